# Sourced by what starts lldb. Debian 12's lldb looks for its own Python package in a folder that does not exist; this shows it
# the right one, and does nothing where lldb finds it alone.
if ! [ -f "$(lldb -P 2>/dev/null | tail -n 1)/lldb/__init__.py" ]; then
  for package in "$(dirname "$(realpath "$(command -v lldb)")")"/../lib/python3.*/dist-packages; do
    if [ -f "$package/lldb/__init__.py" ]; then export PYTHONPATH="$package${PYTHONPATH:+:$PYTHONPATH}"; fi
  done
fi
