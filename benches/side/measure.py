"""Runs a command once and appends its figures to a file.

    measure.py NAME SECONDS COMMAND...

NAME.out and NAME.err get what it writes. A line of NAME.times is: CPU seconds of the command and of all it has started (user
and system, from getrusage), wall seconds, peak MiB resident with mapped files (ru_maxrss: of the largest process), peak MiB
that are its own (RssAnon of /proc/PID/status, looked at every few milliseconds; of the command alone), and 1 if it was stopped
after SECONDS of CPU time, else 0.
"""

import ctypes
import os
import resource
import signal
import subprocess
import sys
import time

PR_SET_CHILD_SUBREAPER = 36


def own_kib(pid):
    try:
        with open(f"/proc/{pid}/status") as status:
            for line in status:
                if line.startswith("RssAnon:"):
                    return int(line.split()[1])
    except OSError:
        pass
    return 0


def cpu_seconds(session):
    """CPU time so far of all processes of a session."""
    ticks = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", "rb") as stat:
                # The name, in brackets, may have blanks; session is the 6th field, times are the 14th to the 17th.
                fields = stat.read().rpartition(b")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session:
            ticks += sum(int(field) for field in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def main():
    name, seconds, *command = sys.argv[1:]
    # Whoever became this interpreter may have run other programs before.
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with open(name + ".out", "wb") as out, open(name + ".err", "wb") as err:
        start = time.monotonic()
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)
    own, stopped, look = 0, 0, 1
    while True:
        ended, status = os.waitpid(child.pid, os.WNOHANG)
        wall = time.monotonic() - start
        if ended:
            break
        own = max(own, own_kib(child.pid))
        if wall > look and not stopped:
            look = wall + 1
            if cpu_seconds(child.pid) > float(seconds):
                stopped = 1
                os.killpg(child.pid, signal.SIGKILL)
        time.sleep(0.002 if wall < 2 else 0.02)
    # perf does not wait for the programs it has started; what is left of them is counted, too.
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        pass
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(name + ".times", "a") as times:
        cpu = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
        print(f"{cpu:.3f} {wall:.3f} {used.ru_maxrss / 1024:.0f} {own / 1024:.1f} {stopped}", file=times)
    # perf's exit status proves nothing.
    is_rival = os.path.basename(command[0]) not in ("readperf", "compare")
    sys.exit(0 if stopped or is_rival or status == 0 else 1)


main()
