#!/bin/sh
# Sees to a Chromium for the tests that open a page. Never fails: without one those tests are skipped, and this says why.
set -u
cd "$(dirname "$0")/.."
failure=.venv/no-browser

found() {
    for name in ${SACCADE_CHROMIUM:+"$SACCADE_CHROMIUM"} chromium chromium-browser google-chrome google-chrome-stable; do
        "$name" --version >/dev/null 2>&1 && return 0
    done
    return 1
}
without() {
    echo "no Chromium: $1; the tests that open a page are skipped"
    exit 0
}
# A machine that cannot get one is not asked again at every run; `make clean` forgets.
failed() {
    [ ! -d .venv ] || echo "$1" >"$failure"
    without "$1"
}

found && exit 0
[ ! -f "$failure" ] || without "$(cat "$failure")"
command -v apt-get >/dev/null 2>&1 || without "none is on the path and there is no apt-get to install one"
if [ "$(id -u)" -eq 0 ]; then
    as_root=
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    as_root="sudo -n"
else
    without "none is on the path and installing one needs root (apt-get install chromium)"
fi
echo "installing Chromium for the tests that open a page (about a minute)"
log=.venv/apt.log
{
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq &&
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium
} >"$log" 2>&1 || failed "apt-get could not install it (see $log)"
found || failed "apt-get installed one that does not start"
