// The frame, the style and the program of a page that --html writes: the files of tutorials/page/html, embedded by CMake.
#pragma once

#include <string>

namespace glass {

std::string report_frame();   // report.html: {{title}}, {{style}}, ... are to be filled in
std::string report_style();   // report.css
std::string report_script();  // the .js files, joined
const char* report_style_sha256();   // in hexadecimal, for the content security policy: the browser runs this program, and no other
const char* report_script_sha256();

}  // namespace glass
