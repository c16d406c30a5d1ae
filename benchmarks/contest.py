"""Programs that take turns at one workload, and the check of their results."""
import json
import queue
import statistics
import subprocess
import threading
import time

LONG = 10.0  # seconds: a longer warm-up is the measurement, and a program that has used this much gets no more turns
REST = 0.2  # seconds between turns, because threads of OpenBLAS and OpenMP spin for a while after their own turn
FEWEST = 3  # turns that a program gets in any case


class Failed(Exception):
    """A program ended, was late, or does not have the workload."""


class Contestant:
    """A process that prints JSON lines: first its readiness and check values, then the seconds of each turn."""

    def __init__(self, command, env, limit):
        self.limit = limit
        self.process = subprocess.Popen(
            command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.lines, self.errors = queue.Queue(), []
        threading.Thread(target=self._read_lines, daemon=True).start()
        threading.Thread(target=lambda: self.errors.extend(self.process.stderr), daemon=True).start()
        self.turns, self.bytes = [], 0
        self.ready = self._next()
        if "missing" in self.ready:
            raise Failed(self.ready["missing"])

    def _read_lines(self):
        for line in self.process.stdout:
            if line.startswith("{"):
                self.lines.put(json.loads(line))
        self.lines.put(None)

    def _next(self):
        try:
            line = self.lines.get(timeout=self.limit)
        except queue.Empty:
            self.end()
            raise Failed(f"not done after {self.limit:.0f} s") from None
        if line is None:
            self.process.wait()
            last = [text.strip() for text in self.errors if text.strip()][-1:] or ["no message"]
            raise Failed(f"exit code {self.process.returncode}: {last[0][:200]}")
        return line

    def wants_turn(self):
        if self.ready["warm_up"] > LONG:
            return False
        return len(self.turns) < FEWEST or sum(self.turns) < LONG

    def take_turn(self):
        self.process.stdin.write("turn\n")
        self.process.stdin.flush()
        line = self._next()
        self.turns.append(line["seconds"])
        self.bytes = max(self.bytes, int(line.get("bytes", 0)))

    def times(self):
        return self.turns or [self.ready["warm_up"]]

    def end(self):
        """mpirun ends its ranks when it is asked to."""
        if self.process.poll() is None:
            self.process.stdin.close()
            try:
                self.process.wait(2)
            except subprocess.TimeoutExpired:
                self.process.terminate()
                try:
                    self.process.wait(5)
                except subprocess.TimeoutExpired:
                    self.process.kill()


class Command:
    """A command that runs once for each turn."""

    ready = {"warm_up": 0.0}
    bytes = 0

    def __init__(self, command, env, limit):
        self.command, self.env, self.limit, self.turns = command, env, limit, []
        self.take_turn()  # untimed: fills the page cache
        self.turns.clear()

    def wants_turn(self):
        return True

    def take_turn(self):
        start = time.monotonic()
        try:
            result = subprocess.run(self.command, env=self.env, capture_output=True, text=True, timeout=self.limit)
        except subprocess.TimeoutExpired:
            raise Failed(f"not done after {self.limit:.0f} s") from None
        elapsed = time.monotonic() - start
        if result.returncode:
            last = result.stderr.strip().splitlines()[-1:] or ["no message"]
            raise Failed(f"exit code {result.returncode}: {last[0][:200]}")
        self.turns.append(self.seconds(result.stdout.strip(), elapsed))

    def times(self):
        return self.turns

    def end(self):
        pass


class WholeProcess(Command):
    """Timed from start to end; prints 45."""

    def seconds(self, output, elapsed):
        if "45" not in output:
            raise Failed(f"printed {output[:100]!r}; expected 45")
        return elapsed


class Stopwatch(Command):
    """Prints the seconds that it measured itself."""

    def seconds(self, output, elapsed):
        return float(output.split()[-1])


def take_turns(contestants, repeats, tidy):
    """Runs each program once, `repeats` times, with tidy() after each. A program that fails is removed, with the reason in the
    returned table."""
    failed = {}
    for _ in range(repeats):
        for key, contestant in contestants.items():
            if key in failed or not contestant.wants_turn():
                continue
            time.sleep(REST)
            try:
                contestant.take_turn()
            except Failed as reason:
                failed[key] = str(reason)
            tidy()
    return failed


def seconds(contestant):
    times = contestant.times()
    return {"seconds": round(min(times), 6), "median": round(statistics.median(times), 6)}


def fault(check, expected):
    """Says what is wrong with check values, or None. Sums are compared relative to the sum of |x|, values relative to themselves."""
    right = expected["check"]
    if len(check) != len(right):
        return f"{len(check)} check values; expected {len(right)}"
    worst = 0.0
    for got, want in zip(check, right):
        scale = right[1] if expected["kind"] == "sums" else max(abs(want), expected.get("floor", 0))
        error = abs(got - want) / scale
        worst = error if error != error else max(worst, error)
    return None if worst <= expected["tolerance"] else f"relative error {worst:.1e}"
