// Colours of numbers. Weights: one hue, 0 to 1. All else: two hues that a red-green blind eye tells apart, 0 in the middle.

const dark = () => document.documentElement.dataset.theme === "dark";

const kScales = {
  light: {
    weights: ["#ffffff", "#c9def0", "#7fb5dc", "#2b78ba", "#08306b"],
    signed: ["#a84f05", "#ee9b3d", "#fddcae", "#fafafa", "#cfe4f2", "#62a5d0", "#1c5fa6"],
    ink: "#15181d", muted: "#5b6470", paper: "#ffffff", line: "#c9ced6", none: "#eceef1", raise: "#f3f5f8", accent: "#1c5fa6", back: "#a84f05",
  },
  dark: {
    weights: ["#1c212a", "#1c3a5a", "#2466a0", "#57a3df", "#dcf0ff"],
    signed: ["#ffb469", "#c87420", "#65390f", "#20252e", "#173f5e", "#2d80ba", "#93d2ff"],
    ink: "#eef1f5", muted: "#a7b0bd", paper: "#12151a", line: "#414956", none: "#2a303a", raise: "#1c212a", accent: "#7cc0ff", back: "#ffb469",
  },
};
const palette = () => kScales[dark() ? "dark" : "light"];
const kFont = "system-ui, sans-serif";
const kHeadColours = ["#1f77b4", "#d95f02", "#7b52ab", "#1b9e77", "#c2185b", "#8c6d00", "#0097a7", "#6d4c41", "#5c6bc0", "#558b2f", "#ad1457", "#455a64"];

const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

const kShades = 512;
function shades(stops) {  // the way from the first colour to the last, in small steps
  const colours = stops.map(channels);
  return Array.from({ length: kShades }, (_, i) => {
    const place = i / (kShades - 1) * (stops.length - 1), low = Math.min(Math.floor(place), stops.length - 2), part = place - low;
    return colours[low].map((x, k) => Math.round(x + part * (colours[low + 1][k] - x)));
  });
}

// The scale of a figure: what its ends and its middle mean, and the colour of a number.
function scaleFor(kind, limit) {
  const stops = palette()[kind], weights = kind === "weights", most = limit || 1;  // weights: 1, but of a large map the largest one, or all would be white
  const all = once(kind + dark(), () => shades(stops));
  const rgb = (x) => {
    if (Number.isNaN(x)) return [220, 0, 120];
    const t = weights ? x / most : x / most / 2 + 0.5;
    return all[Math.round(Math.min(Math.max(t, 0), 1) * (kShades - 1))];
  };
  return { rgb, stops, ticks: weights ? [most, most / 2, 0] : [most, 0, -most] };
}

const css = (rgb) => `rgb(${rgb.join(",")})`;
const brightness = (rgb) => (0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2]) / 255;
const textOn = (rgb) => (brightness(rgb) > 0.55 ? "#10131a" : "#ffffff");
