"""Runs a program with its limits, and its healthy twin, and checks both against the card."""
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMIT = 75
CATEGORIES = ("memory_hardware", "optimization", "data_pipeline", "model_software", "unknown")


def run(folder, extra, limit):
    work = Path(tempfile.mkdtemp())
    record = work / "record.jsonl"
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parent), "FIELD_RECORD": str(record), "OMP_NUM_THREADS": "1",
           "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "PYTHONUNBUFFERED": "1", "CUDA_VISIBLE_DEVICES": ""}
    shutil.copy(folder / "program.py", work)
    name = "console.txt" if not extra else "console_healthy.txt"
    with open(folder / name, "wb") as out:
        start = time.monotonic()
        child = subprocess.Popen([sys.executable, "program.py", *extra], cwd=work, env=env, stdout=out, stderr=subprocess.STDOUT,
                                 stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            status, how = child.wait(limit), None
        except subprocess.TimeoutExpired:
            status, how = None, "timeout"
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()
    text = (folder / name).read_text(errors="replace")
    if how is None:
        how = "completed" if status == 0 else "killed" if status < 0 else "exception" if "Traceback" in text or "Error" in text else "exit"
    rows = [json.loads(line) for line in record.read_text().splitlines()] if record.exists() else []
    shutil.rmtree(work, ignore_errors=True)
    return how, text, rows, time.monotonic() - start


def series(rows, name):
    return [row["value"] for row in rows if row["name"] == name]


def mean(values):
    return sum(values) / len(values)


def shows(rows, said):
    values = series(rows, said["metric"])
    if not values:
        return f"no value of {said['metric']!r} was recorded"
    quarter = max(1, len(values) // 4)
    last, first, bound = values[-quarter:], values[:quarter], said.get("bound")
    kind = said["is"]
    good = {
        "nan": lambda: any(not math.isfinite(v) for v in values),
        "constant": lambda: len({f"{v:.4g}" for v in values}) == 1 and len(values) > 2,
        "zero": lambda: all(v == 0 for v in values) and len(values) > 2,
        "not_below": lambda: min(last) >= bound,
        "not_above": lambda: max(last) <= bound,
        "rises": lambda: mean(last) > mean(first) + bound,
        "below_zero": lambda: min(values) < 0,
        "gap": lambda: mean(last) - mean(series(rows, said["beside"])[-quarter:]) >= bound,
        "ends_below": lambda: mean(last) < bound,
        "ends_above": lambda: mean(last) > bound,
    }[kind]()
    return None if good else f"{said['metric']} is not {kind} {bound}: first {first[:3]}, last {last[-3:]}"


def main(folder):
    card, problems = json.loads((folder / "card.json").read_text()), []
    text = (folder / "program.py").read_text()
    if len(text.splitlines()) > 150:
        problems.append("program.py has more than 150 lines")
    oddity = card["kind"] == "oddity"
    if not oddity and card["category"] not in CATEGORIES:
        problems.append("category is none of the five")
    if not oddity and len(re.findall(r"\bargs\.healthy\b", text)) != 1:
        problems.append("args.healthy must occur once")
    how, console, rows, seconds = run(folder, [], LIMIT)
    ending = card["ending"]
    if how != ending["how"]:
        problems.append(f"ends as {how}, not {ending['how']}: ...{console[-300:]!r}")
    if ending.get("error") and ending["error"] not in console:
        problems.append(f"{ending['error']} is not in the console")
    if card.get("symptom") and (problem := shows(rows, card["symptom"])):
        problems.append("symptom: " + problem)
    times = [seconds]
    if oddity:
        problem = shows(rows, card["healthy"])
    else:
        how, console, rows, seconds = run(folder, ["--healthy"], LIMIT)
        times.append(seconds)
        if how != "completed":
            problems.append(f"the healthy twin ends as {how}: ...{console[-300:]!r}")
        problem = shows(rows, card["healthy"])
        if card.get("symptom") and not shows(rows, card["symptom"]):
            problems.append("the healthy twin has the symptom, too")
    if problem:
        problems.append("healthy: " + problem)
    if max(times) > 60 and ending["how"] != "timeout":
        problems.append("takes more than 60 seconds")
    print(folder.name, "ok" if not problems else "; ".join(problems), " ".join(f"{t:.0f}s" for t in times))


for each in sys.argv[1:]:
    try:
        main(Path(each))
    except Exception as error:
        print(each, "card or program cannot be read:", repr(error))
