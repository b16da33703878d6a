"""Slips of training loops are found in a program, and what looks like one is not."""

import os

import pytest

from failbench.base.errors import BadInputError
from failbench.diagnose.code_patterns import CODE_PATTERNS
from failbench.diagnose.training_code import NOT_READ, code_findings, slips

LOOP = """
model.train()
for epoch in range(3):
    for batch in loader:
        optimizer.zero_grad()
        loss = model(batch).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        total += loss.item()
        history.append(loss.detach())
"""

CASES = {
    "gradients_not_cleared": [
        (LOOP.replace("        optimizer.zero_grad()\n", ""), "optimizer.step()"),
        (LOOP.replace("optimizer.zero_grad()", "model.zero_grad(set_to_none=True)"), None),
        ("for batch in loader:\n    engine.backward(engine(batch))\n    engine.step()\n", None),
        (LOOP.replace("optimizer.zero_grad()", "for p in ps: p.grad = None"), None),
    ],
    "loss_kept_with_graph": [
        (LOOP.replace("loss.item()", "loss"), "total += loss"),
        (LOOP.replace("loss.detach()", "loss"), "history.append(loss)"),
        (LOOP.replace("loss.item()", "loss * 0 + 1"), None),
        (LOOP.replace("total +=", "loss = loss.item()\n        total +=").replace(
            "loss.detach()", "loss"), None),
        (("for batch in loader:\n    opt.zero_grad()\n    total = 0\n    for part in batch:\n"
         "        loss = f(part)\n        total += loss\n    total.backward()\n    opt.step()"),
         None),
    ],
    "evaluation_builds_graphs": [
        ("model.eval()\nfor batch in loader:\n    score += model(batch).loss.item()\n",
         "score += model(batch).loss.item()"),
        (("@torch.no_grad()\ndef evaluate(model):\n    model.eval()\n    for batch in loader:\n"
         "        model(batch)\n"), None),
        (("model.eval()\nfor batch in loader:\n    frozen.eval()\n    loss = model(batch)\n"
         "    loss.backward()\n"), None),
        ("for batch in loader:\n    model(batch)\nmodel.eval()\n", None),
        ("model.eval()\nfor x in xs:\n    y = tokenizer(x)\n", None),
    ],
    "evaluation_mode_stays": [
        (LOOP + "    model.eval()\n    with torch.no_grad():\n        score(model)\n",
         "model.eval()"),
        (LOOP + "    model.eval()\n    with torch.no_grad():\n        score(model)\n"
         "    model.train()\n", None),
        (LOOP + "model.eval()\n", None),
        (LOOP + "    evaluate(model)\n", None),
    ],
    "softmax_before_cross_entropy": [
        ("probs = torch.softmax(model(x), dim=-1)\nloss = F.cross_entropy(probs, y)\n",
         "loss = F.cross_entropy(probs, y)"),
        (("criterion = nn.CrossEntropyLoss()\ndef f(x, y):\n"
         "    return criterion(nn.Softmax(dim=1)(x), y)\n"),
         "return criterion(nn.Softmax(dim=1)(x), y)"),
        ("probs = torch.softmax(logits, dim=-1)\nloss = F.cross_entropy(logits, y)\n", None),
        ("loss = F.cross_entropy(logits, teacher.softmax(-1))\n", None),
        ("out = x.softmax(-1)\nout = head(out)\nloss = F.cross_entropy(out, y)\n", None),
        ("loss = F.cross_entropy(F.log_softmax(x, -1), y)\n", None),
        ("loss = F.nll_loss(torch.softmax(x, -1), y)\n", None),
    ],
    "step_before_backward": [
        (LOOP.replace("        optimizer.step()\n", "").replace(
            "        loss.backward", "        optimizer.step()\n        loss.backward"),
         "optimizer.step()"),
        (("for batch in loader:\n    d.backward()\n    opt_d.step()\n    opt_d.zero_grad()\n"
         "    g.backward()\n    opt_g.step()\n"), None),
        (("for batch in loader:\n    env.step(action)\n    loss.backward()\n    opt.step()\n"
         "    opt.zero_grad()\n"), None),
    ],
    "scheduler_before_optimizer": [
        (LOOP.replace("        optimizer.step()\n        scheduler.step()\n",
                      "        scheduler.step()\n        optimizer.step()\n"), "scheduler.step()"),
        (("for epoch in range(3):\n    scheduler.step()\n    for batch in loader:\n"
         "        optimizer.step()\n"), None),
    ],
    "maximize": [
        ("opt = torch.optim.AdamW(model.parameters(), lr=1e-3, maximize=True)\n",
         "opt = torch.optim.AdamW(model.parameters(), lr=1e-3, maximize=True)"),
        ("opt = SGD(ps, maximize=False)\nstudy = Study(maximize=True)\n", None),
    ],
    "graph_retained": [
        (LOOP.replace("backward()", "backward(retain_graph=True)"),
         "loss.backward(retain_graph=True)"),
        (LOOP.replace("loss.backward()",
                      "loss.backward(retain_graph=True)\n        other.backward()"), None),
        ("loss.backward(retain_graph=True)\n", None),
    ],
    "clipping_before_unscaling": [
        (LOOP.replace("loss.backward()", "scaler.scale(loss).backward()"),
         "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)"),
        (LOOP.replace("loss.backward()",
                      "scaler.scale(loss).backward()\n        scaler.unscale_(optimizer)"), None),
        (LOOP, None),
    ],
    "backward_twice": [
        (LOOP.replace("loss.backward()", "loss.backward()\n        loss.backward()"),
         "loss.backward()"),
        (LOOP.replace("loss.backward()",
                      "loss.backward(retain_graph=True)\n        loss.backward()"), None),
        (LOOP.replace("loss.backward()",
                      "loss.backward()\n        loss = model(x).loss\n        loss.backward()"),
         None),
        ("if scaled:\n    loss.backward()\nelse:\n    loss.backward()\n", None),
    ],
    "all_parameters_frozen": [
        (("for p in model.parameters():\n    p.requires_grad = False\n"
         "opt = torch.optim.Adam(model.parameters(), lr=1)\n"), "for p in model.parameters():"),
        ("model.requires_grad_(False)\nopt = Adam(model.parameters())\n",
         "model.requires_grad_(False)"),
        (("for p in model.parameters():\n    p.requires_grad = False\n"
         "model.head = nn.Linear(2, 2)\nopt = Adam(model.parameters())\n"), None),
        (("for p in teacher.parameters():\n    p.requires_grad = False\n"
         "opt = Adam(model.parameters())\n"), None),
        (("model.requires_grad_(False)\nmodel = get_peft_model(model, c)\n"
         "opt = Adam(model.parameters())\n"), None),
        (("model.requires_grad_(False)\nmodel.head.requires_grad_(True)\n"
         "opt = Adam(model.parameters())\n"), None),
    ],
    "padding_not_ignored": [
        (("y = pad_sequence(labels, batch_first=True, padding_value=0)\n"
         "criterion = nn.CrossEntropyLoss()\n"),
         "y = pad_sequence(labels, batch_first=True, padding_value=0)"),
        ("c = DataCollatorForSeq2Seq(tok, label_pad_token_id=-1)\nl = F.cross_entropy(a, b)\n",
         "c = DataCollatorForSeq2Seq(tok, label_pad_token_id=-1)"),
        ("y = pad_sequence(labels, padding_value=-100)\nc = nn.CrossEntropyLoss()\n", None),
        ("y = pad_sequence(labels)\nc = nn.CrossEntropyLoss(ignore_index=0)\n", None),
        ("y = pad_sequence(labels, padding_value=pad)\nc = nn.CrossEntropyLoss()\n", None),
        ("x = pad_sequence(input_ids)\nc = nn.CrossEntropyLoss()\n", None),
        ("y = pad_sequence(labels)\nc = nn.CrossEntropyLoss(ignore_index=pad)\n", None),
    ],
    "hooks_in_loop": [
        (LOOP.replace("loss.backward()", "layer.register_forward_hook(f)\n        loss.backward()"),
         "layer.register_forward_hook(f)"),
        ("for layer in model.modules():\n    layer.register_forward_hook(f)\n" + LOOP, None),
        (LOOP.replace("loss.backward()",
                      "h = layer.register_forward_hook(f)\n        loss.backward()\n"
                      "        h.remove()"), None),
    ],
    "training_not_shuffled": [
        ("loader = DataLoader(train_set, batch_size=4, shuffle=False)\n",
         "loader = DataLoader(train_set, batch_size=4, shuffle=False)"),
        ("loader = DataLoader(test_set, shuffle=False)\n", None),
        ("loader = DataLoader(train_set, sampler=s, shuffle=False)\n", None),
        ("loader = DataLoader(train_set)\n", None),
    ],
}  # fmt: skip


def found(tmp_path, text, name="train.py"):
    path = tmp_path / name
    path.write_text(text)
    return code_findings(path)


@pytest.mark.parametrize(
    ("pattern", "text", "quote"),
    [(pattern, *case) for pattern, cases in CASES.items() for case in cases],
)
def test_a_slip_is_found_where_it_is_one_and_not_beside_it(tmp_path, pattern, text, quote):
    findings = [each for each in found(tmp_path, text) if each.id == pattern]
    assert [each.quote for each in findings] == ([] if quote is None else [quote])
    for each in findings:
        assert text.splitlines()[each.line - 1].strip() == quote
        assert (each.kind, each.source) == ("code", "train.py")


def test_every_pattern_is_declared_and_has_cases_of_both_kinds():
    names = [pattern.__name__ for pattern in CODE_PATTERNS]
    assert sorted(slips()) == sorted(names) == sorted(CASES)
    assert all({quote is None for _, quote in cases} == {True, False} for cases in CASES.values())


def test_the_loops_of_this_repository_have_no_direct_slips(repository):
    """They train in health; faults are injected elsewhere."""
    findings = code_findings(repository / "src/failbench/recording/loop.py")
    assert [each for each in findings if each.strength == "direct"] == []


def test_nothing_of_a_program_is_run(tmp_path):
    mark = tmp_path / "mark"
    assert found(tmp_path, f"import pathlib\npathlib.Path({str(mark)!r}).touch()\n") == ()
    assert not mark.exists()


@pytest.mark.parametrize(
    "text",
    [
        "for x in\n",
        "(" * 100_000,
        "-" * 100_000 + "1",
        "x\0y",
        "#" * (2**20 + 1),
        "a." * 60_000 + "b",
    ],
)
def test_what_is_no_python_is_a_finding_and_no_exception(tmp_path, text):
    (finding,) = found(tmp_path, text)
    assert (finding.id, finding.causes) == (NOT_READ, ())
    assert finding.statement.isprintable()


def test_a_folder_is_read_without_links_and_pipes(tmp_path):
    (tmp_path / "src").mkdir()
    found(tmp_path / "src", "opt = SGD(ps, maximize=True)\n")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "link.py").symlink_to(tmp_path / "src/train.py")
    os.mkfifo(tmp_path / "pipe.py")
    assert [each.source for each in code_findings(tmp_path)] == ["src/train.py"]
    for name in ("pipe.py", "missing.py"):
        with pytest.raises(BadInputError, match="neither a file"):
            code_findings(tmp_path / name)
