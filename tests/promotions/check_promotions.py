#!/usr/bin/env python3
"""Judge a Flotilla command line against example promotions.

    check_promotions.py [OPTIONS] CMD...        e.g.  check_promotions.py uv run flotilla

For each directory promotions/NNN-name it builds a Git repository (from before/, or from the commits in case.json), runs
`CMD promote-env --dir DIR --app A --from E --to F -o json` and compares the tree byte for byte with before/ overlaid by after/.
Exit status 0 when everything is right, 1 otherwise, 2 for wrong usage. Standard library only.

Options, before CMD:
    --only PART      only cases whose name contains PART (may be repeated)
    --thorough       also: --dry-run first must write nothing and say the same edits and hash; a second run must change nothing
    --cases DIR      another directory of cases (default: promotions beside this file)
    --timeout S      seconds for each command (default 60)
    --jobs N         cases at a time (default 4)
    --verbose        print right cases with their notes too;  --quiet: only the total
"""

import concurrent.futures
import difflib
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def read_tree(root):
    """path -> (kind, content): kind is file, exec or link. Empty directories do not count, as in Git."""
    tree = {}
    for d, subdirs, names in os.walk(root):
        subdirs[:] = [s for s in subdirs if not (s == ".git" and d == root)]
        links = [s for s in subdirs if os.path.islink(os.path.join(d, s))]
        for n in names + links:
            p = os.path.join(d, n)
            key = os.path.relpath(p, root).replace(os.sep, "/")
            if os.path.islink(p):
                tree[key] = ("link", os.fsencode(os.readlink(p)))
            else:
                with open(p, "rb") as fh:
                    tree[key] = ("exec" if os.stat(p).st_mode & stat.S_IXUSR else "file", fh.read())
    return tree


def write_file(root, path, text):
    p = os.path.join(root, path)
    if os.path.lexists(p):
        mode = None if os.path.islink(p) else os.stat(p).st_mode
        os.unlink(p)
    else:
        mode = None
    if text is None:
        return
    os.makedirs(os.path.dirname(p), exist_ok=True)
    with open(p, "wb") as fh:
        fh.write(text.encode("utf-8"))
    if mode:
        os.chmod(p, mode)


def git(root, *args, day=0):
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    date = "2026-05-%02dT09:00:00+00:00" % (day + 1)
    env.update(
        GIT_CONFIG_GLOBAL=os.devnull,
        GIT_CONFIG_NOSYSTEM="1",
        GIT_AUTHOR_DATE=date,
        GIT_COMMITTER_DATE=date,
        GIT_AUTHOR_NAME="R. Lind",
        GIT_AUTHOR_EMAIL="r.lind@example.org",
        GIT_COMMITTER_NAME="R. Lind",
        GIT_COMMITTER_EMAIL="r.lind@example.org",
    )
    r = subprocess.run(["git", "-C", root, *args], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if r.returncode:
        raise RuntimeError("git %s: %s" % (" ".join(args[:2]), r.stderr.decode("utf-8", "replace")))
    return r.stdout.decode().strip()


def build(case_dir, case, root):
    """The Git repository of the case; its work tree is before/."""
    shutil.copytree(os.path.join(case_dir, "before"), root, symlinks=True)
    before = read_tree(root)
    git(root, "init", "-q", "-b", "main")
    for k, v in (
        ("core.autocrlf", "false"),
        ("core.filemode", "true"),
        ("core.symlinks", "true"),
        ("core.quotepath", "false"),
        ("user.name", "R. Lind"),
        ("user.email", "r.lind@example.org"),
    ):
        git(root, "config", k, v)
    shas = []
    for n, commit in enumerate(case.get("commits") or [{"message": "everything so far\n", "files": {}}]):
        for path, text in commit.get("files", {}).items():
            write_file(root, path, text)
        git(root, "add", "-A", "-f")
        message = re.sub(r"\{commit:(\d+)\}", lambda m: shas[int(m.group(1))], commit["message"])
        git(root, "commit", "-q", "--allow-empty", "--cleanup=verbatim", "-m", message, day=n)
        shas.append(git(root, "rev-parse", "HEAD"))
    if read_tree(root) != before:
        raise RuntimeError("the last commit of case.json is not before/")
    return before


def expected_tree(case_dir, case, before):
    tree = dict(before)
    after = os.path.join(case_dir, "after")
    if os.path.isdir(after):
        tree.update(read_tree(after))
    for path in case.get("deleted", []):
        del tree[path]
    return tree


def units(a, b):
    """The changes from tree a to tree b, as small as they can be counted."""
    out = set()
    for path in set(a) | set(b):
        x, y = a.get(path), b.get(path)
        if x == y:
            continue
        if x is None or y is None or x[0] == "link" or y[0] == "link":
            out.add((path, "whole", y))
            continue
        if x[0] != y[0]:
            out.add((path, "mode", y[0]))
        xl, yl = x[1].splitlines(keepends=True), y[1].splitlines(keepends=True)
        for op, i1, i2, j1, j2 in difflib.SequenceMatcher(None, xl, yl, autojunk=False).get_opcodes():
            if op == "equal":
                continue
            if i2 - i1 == j2 - j1:
                out.update((path, i1 + k, yl[j1 + k]) for k in range(i2 - i1))
            else:
                out.update((path, "-", i) for i in range(i1, i2))
                out.update((path, "+", i1, line) for line in yl[j1:j2])
    return out


def short_diff(want, got, limit=12):
    lines = []
    for path in sorted(set(want) | set(got)):
        x, y = want.get(path), got.get(path)
        if x == y:
            continue
        if x is None or y is None or x[0] != y[0]:
            lines.append("%s: expected %s, got %s" % (path, x[0] if x else "no file", y[0] if y else "no file"))
        if x is None or y is None:
            continue
        a, b = (z[1].decode("utf-8", "replace").splitlines(keepends=True) for z in (x, y))
        for line in list(difflib.unified_diff(a, b, "expected " + path, "got", n=0, lineterm=""))[:limit]:
            lines.append(
                repr(line.rstrip("\n") if line.endswith("\n") and not line.endswith("\r\n") else line)[1:-1][:160]
            )
    return lines[:limit] + (["... %d lines more" % (len(lines) - limit)] if len(lines) > limit else [])


def parse_json(text):
    text = text.strip()
    for start in [0] + [m.start() for m in re.finditer(r"^\{", text, re.M)]:
        try:
            doc, _ = json.JSONDecoder().raw_decode(text[start:])
        except ValueError:
            continue
        if isinstance(doc, dict):
            return doc
    return None


def run(cmd, root, case, timeout, *more):
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    args = cmd + [
        "promote-env",
        "--dir",
        root,
        "--app",
        case["app"],
        "--from",
        case["from"],
        "--to",
        case["to"],
        *more,
        "-o",
        "json",
    ]
    try:
        r = subprocess.run(
            args, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout
        )
    except subprocess.TimeoutExpired:
        return None, "ran longer than %s s" % timeout
    err = r.stderr.decode("utf-8", "replace").strip().splitlines()
    return parse_json(r.stdout.decode("utf-8", "replace")), "exit status %d%s" % (
        r.returncode,
        ", " + err[-1][:160] if err else "",
    )


def listed(doc, key):
    x = (doc or {}).get(key)
    return x if isinstance(x, list) else [x] if x else []


def said(doc, fragment, *keys):
    text = json.dumps([listed(doc, k) for k in keys], ensure_ascii=False).lower()
    return any(f.lower() in text for f in fragment.split("|"))


def last_key(edit):
    path = edit.get("path") if isinstance(edit, dict) else None
    if isinstance(path, str):
        path = [s for s in re.split(r"[./\[\]]+", path) if s]
    path = [p for p in path or [] if p is not None] if isinstance(path, (list, tuple)) else []
    return str(path[-1]) if path else ""


def rel(root, path):
    path = str(path or "").replace("\\", "/")
    for r in (os.path.realpath(root), root):
        if path.startswith(r + "/"):
            path = path[len(r) + 1 :]
    return path[2:] if path.startswith("./") else path


def faults(outcome, case, doc, root, before, want, got):
    """What is wrong when the right outcome is `outcome`; an empty list is right."""
    edits, bad = listed(doc, "edits"), []
    if outcome == "edits":
        if got == before:
            bad.append("nothing was edited")
        elif got != want:
            bad.append("the tree is not the expected one")
        named = {rel(root, e.get("file")) for e in edits if isinstance(e, dict)}
        for path in sorted(p for p in set(want) | set(before) if want.get(p) != before.get(p)):
            if path not in named:
                bad.append("no edit in the answer names %s" % path)
        for k in case.get("kept", []):
            if any(k.lower() in last_key(e).lower() for e in edits):
                bad.append("an edit in the answer is of %r, which stays" % k)
    else:
        if got != before:
            bad.append("the tree was changed")
        if edits:
            bad.append("the answer lists %d edits" % len(edits))
        if outcome == "refused" and not (listed(doc, "refusals") or listed(doc, "asks")):
            bad.append("neither a refusal nor an ask")
        if outcome == "nochange" and listed(doc, "refusals"):
            bad.append("a refusal: %s" % json.dumps(listed(doc, "refusals"), ensure_ascii=False)[:160])
    if outcome == case["expect"]:
        for k in case.get("asks", []):
            if not said(doc, k, "asks", "refusals", "kept"):
                bad.append("nothing asked or refused about %s" % k)
    return bad


def judge(name, opt, cmd):
    case_dir = os.path.join(opt["cases"], name)
    with open(os.path.join(case_dir, "case.json"), encoding="utf-8") as fh:
        case = json.load(fh)
    tmp = tempfile.mkdtemp(prefix="fleet-")
    try:
        root = os.path.join(tmp, "repo")
        before = build(case_dir, case, root)
        want = expected_tree(case_dir, case, before)
        bad, notes = [], []
        if opt["thorough"]:
            dry, _ = run(cmd, root, case, opt["timeout"], "--dry-run")
            if read_tree(root) != before:
                bad.append("--dry-run changed the tree")
                for p in set(read_tree(root)) - set(before):
                    os.unlink(os.path.join(root, p))
                git(root, "checkout", "-q", "-f", "HEAD")
        doc, how = run(cmd, root, case, opt["timeout"])
        got = read_tree(root)
        false = len(units(before, got) - units(before, want))
        if doc is None:
            bad.append("no JSON answer (%s)" % how)
        tries = [faults(o, case, doc, root, before, want, got) for o in [case["expect"], *case.get("accept", [])]]
        bad += [] if any(not t for t in tries) else tries[0]
        if opt["thorough"] and doc is not None and not bad:
            if dry is None or [dry.get("edits"), dry.get("hash")] != [doc.get("edits"), doc.get("hash")]:
                bad.append("--dry-run gave other edits or another hash")
            git(root, "add", "-A", "-f")
            git(root, "commit", "-q", "--allow-empty", "-m", "after the first run", day=20)
            again, _ = run(cmd, root, case, opt["timeout"])
            if read_tree(root) != got or listed(again, "edits"):
                bad.append("a second run edits again")
        for k in case.get("kept", []):
            if doc is not None and not said(doc, k, "kept", "asks"):
                notes.append("not reported as kept: %s" % k)
        for k in case.get("asks", []):
            if doc is not None and case["expect"] == "edits" and not said(doc, k, "asks"):
                notes.append("not asked: %s" % k)
        diff = short_diff(want, got) if got != want else []
        return {
            "name": name,
            "case": case,
            "right": not bad,
            "bad": bad,
            "notes": notes,
            "exact": got == want,
            "false": false,
            "diff": diff,
        }
    except RuntimeError as e:
        return {
            "name": name,
            "case": case,
            "right": False,
            "bad": ["the case could not be built: %s" % e],
            "notes": [],
            "exact": False,
            "false": 0,
            "diff": [],
        }
    finally:
        shutil.rmtree(tmp, ignore_errors=True)


def main(argv):
    opt = {
        "only": [],
        "thorough": False,
        "cases": os.path.join(HERE, "promotions"),
        "timeout": 60,
        "jobs": 4,
        "verbose": False,
        "quiet": False,
    }
    while argv and argv[0].startswith("--"):
        a = argv.pop(0)
        if a == "--":
            break
        if a in ("--thorough", "--verbose", "--quiet"):
            opt[a[2:]] = True
        elif a in ("--only", "--cases", "--timeout", "--jobs") and argv:
            v = argv.pop(0)
            if a == "--only":
                opt["only"].append(v)
            else:
                opt[a[2:]] = v if a == "--cases" else int(v)
        else:
            argv = []
    if not argv:
        print(__doc__, file=sys.stderr)
        return 2
    names = sorted(n for n in os.listdir(opt["cases"]) if os.path.isfile(os.path.join(opt["cases"], n, "case.json")))
    if opt["only"]:
        names = [n for n in names if any(p in n for p in opt["only"])]
    cmd = [os.path.abspath(argv[0]) if os.sep in argv[0] else argv[0], *argv[1:]]
    if shutil.which(cmd[0]) is None:
        print("no such command: %s" % cmd[0], file=sys.stderr)
        return 2
    with concurrent.futures.ThreadPoolExecutor(max(1, opt["jobs"])) as pool:
        results = []
        for r in pool.map(lambda n: judge(n, opt, cmd), names):
            results.append(r)
            if opt["quiet"] or (r["right"] and not opt["verbose"]):
                if not opt["quiet"]:
                    print("right  %s" % r["name"])
                continue
            print(
                "%s  %s  [%s] %s"
                % ("right" if r["right"] else "WRONG", r["name"], r["case"]["expect"], r["case"]["situation"])
            )
            for line in r["bad"] + r["notes"]:
                print("         " + line)
            for line in r["diff"]:
                print("           | " + line)
            if not r["right"]:
                print("         because: " + r["case"]["why"])
    edits = [r for r in results if r["case"]["expect"] == "edits"]
    refused = [r for r in results if r["case"]["expect"] == "refused"]
    right = sum(r["right"] for r in results)
    print(
        "promotions right %d/%d, byte-exact %d/%d, refused %d/%d, false edits %d"
        % (
            right,
            len(results),
            sum(r["exact"] for r in edits),
            len(edits),
            sum(r["right"] for r in refused),
            len(refused),
            sum(r["false"] for r in results),
        )
    )
    return 0 if right == len(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
