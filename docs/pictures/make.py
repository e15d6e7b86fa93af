#!/usr/bin/env python3
"""Draws the pictures of the pages from what the lessons compute. Needs no package.

    docs/pictures/make.py            rewrites docs/pictures/*.svg from build/release, build/test or build/debug, whichever was built last
    docs/pictures/make.py --check    exits with 1 if a picture is not what the lessons compute today
"""
import sys

import attention
import models
import terminal
from lesson import ROOT, Lesson, run

HERE = ROOT / "docs" / "pictures"


def shaded_output():
    lines = run("09_self_attention", "--color", "always", "--width", "80").splitlines()
    part = terminal.excerpt(lines, "4. Weights", "5. Output") + terminal.excerpt(lines, "Back 3. Through softmax", "Back 4.")
    while not part[-1]:
        part.pop()
    return terminal.svg(part, "Lesson 09: attention weights and the gradient of the scores, shaded by size")


head, block = Lesson("09_self_attention"), Lesson("17_encoder_block")
PICTURES = {
    "09_self_attention": shaded_output(),
    "09_projection": attention.projection(head),
    "09_weighted_sum": attention.weighted_sum(head),
    "09_layer_flow": models.layer_flow(head),
    "10_score_flow": attention.score_flow(Lesson("10_scaling")),
    "12_multi_head": attention.multi_head(Lesson("12_multi_head")),
    "13_cross_attention": attention.cross_attention(Lesson("13_cross_attention")),
    "14_waves": models.waves(Lesson("14_positions", "--dim", "10")),
    "17_bert": models.bert(Lesson("17_encoder_block", "--variant", "post")),
    "19_integrations": models.integrations(*(Lesson("19_integration", "--variant", v) for v in ("standalone", "conv", "augmented")), block),
    "23_complexity": models.complexity(Lesson("23_complexity")),
}
stale = []
for name, fresh in PICTURES.items():
    path = HERE / f"{name}.svg"
    if path.exists() and path.read_text(encoding="utf-8") == fresh:
        continue
    stale.append(str(path.relative_to(ROOT)))
    if "--check" not in sys.argv:
        path.write_text(fresh, encoding="utf-8")
        print("wrote", stale[-1])
if stale and "--check" in sys.argv:
    sys.exit(f"{', '.join(stale)}: not up to date; run docs/pictures/make.py")
