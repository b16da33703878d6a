import os

import pytest

from failbench.base.errors import BadInputError
from failbench.diagnose.code_patterns import CODE_PATTERNS
from failbench.diagnose.given import NOT_READ, code_findings, slips

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


def loop(before, after):
    """The loop with a statement replaced by others, which part at semicolons."""
    return LOOP.replace(before, after.replace("; ", "\n        "))


FROZEN = "for p in model.parameters():{}\n    p.requires_grad = False\n"
EVALUATED = "    model.eval(){}\n    with torch.no_grad():\n        score(model)\n"
CASES = {  # programs; the lines that are found are marked
    "gradients_not_cleared": [
        loop("optimizer.zero_grad()", "pass").replace("optimizer.step()", "optimizer.step()  # !"),
        loop("optimizer.zero_grad()", "model.zero_grad(set_to_none=True)"),
        "for batch in loader:\n    engine.backward(engine(batch))\n    engine.step()\n",
        loop("optimizer.zero_grad()", "for p in ps: p.grad = None"),
    ],
    "loss_kept_with_graph": [
        loop("loss.item()", "loss  # !"),
        loop("history.append(loss.detach())", "history.append(loss)  # !"),
        loop("loss.item()", "loss * 0 + 1"),
        loop("total +=", "loss = loss.item(); total +=").replace("loss.detach()", "loss"),
        ("for batch in loader:\n    opt.zero_grad()\n    total = 0\n    for part in batch:\n"
        "        loss = f(part)\n        total += loss\n    total.backward()\n    opt.step()"),
    ],
    "evaluation_builds_graphs": [
        "model.eval()\nfor batch in loader:\n    score += model(batch).loss.item()  # !\n",
        ("@torch.no_grad()\ndef evaluate(model):\n    model.eval()\n    for batch in loader:\n"
        "        model(batch)\n"),
        ("model.eval()\nfor batch in loader:\n    frozen.eval()\n    loss = model(batch)\n"
        "    loss.backward()\n"),
        "for batch in loader:\n    model(batch)\nmodel.eval()\n",
        "model.eval()\nfor x in xs:\n    y = tokenizer(x)\n",
    ],
    "evaluation_mode_stays": [
        LOOP + EVALUATED.format("  # !"),
        LOOP + EVALUATED.format("") + "    model.train()\n",
        LOOP + "model.eval()\n",
        LOOP + "    evaluate(model)\n",
    ],
    "softmax_before_cross_entropy": [
        "probs = torch.softmax(model(x), dim=-1)\nloss = F.cross_entropy(probs, y)  # !\n",
        ("criterion = nn.CrossEntropyLoss()\ndef f(x, y):\n"
        "    return criterion(nn.Softmax(dim=1)(x), y)  # !\n"),
        "probs = torch.softmax(logits, dim=-1)\nloss = F.cross_entropy(logits, y)\n",
        "loss = F.cross_entropy(logits, teacher.softmax(-1))\n",
        "out = x.softmax(-1)\nout = head(out)\nloss = F.cross_entropy(out, y)\n",
        "loss = F.cross_entropy(F.log_softmax(x, -1), y)\n",
        "loss = F.nll_loss(torch.softmax(x, -1), y)\n",
    ],
    "step_before_backward": [
        loop("optimizer.step()", "pass").replace(
            "loss.backward()", "optimizer.step()  # !\n        loss.backward()"),
        ("for batch in loader:\n    d.backward()\n    opt_d.step()\n    opt_d.zero_grad()\n"
        "    g.backward()\n    opt_g.step()\n"),
        ("for batch in loader:\n    env.step(action)\n    loss.backward()\n    opt.step()\n"
        "    opt.zero_grad()\n"),
    ],
    "scheduler_before_optimizer": [
        loop("optimizer.step()", "pass").replace(
            "scheduler.step()", "scheduler.step()  # !\n        optimizer.step()"),
        ("for epoch in range(3):\n    scheduler.step()\n    for batch in loader:\n"
        "        optimizer.step()\n"),
    ],
    "maximize": [
        "opt = torch.optim.AdamW(model.parameters(), lr=1e-3, maximize=True)  # !\n",
        "opt = SGD(ps, maximize=False)\nstudy = Study(maximize=True)\n",
    ],
    "graph_retained": [
        loop("backward()", "backward(retain_graph=True)  # !"),
        loop("loss.backward()", "loss.backward(retain_graph=True); other.backward()"),
        "loss.backward(retain_graph=True)\n",
    ],
    "clipping_before_unscaling": [
        loop("loss.backward()", "scaler.scale(loss).backward()").replace("1.0)", "1.0)  # !"),
        loop("loss.backward()", "scaler.scale(loss).backward(); scaler.unscale_(optimizer)"),
        LOOP,
    ],
    "backward_twice": [
        loop("loss.backward()", "loss.backward(); loss.backward()  # !"),
        loop("loss.backward()", "loss.backward(retain_graph=True); loss.backward()"),
        loop("loss.backward()", "loss.backward(); loss = model(x).loss; loss.backward()"),
        "if scaled:\n    loss.backward()\nelse:\n    loss.backward()\n",
    ],
    "all_parameters_frozen": [
        FROZEN.format("  # !") + "opt = torch.optim.Adam(model.parameters(), lr=1)\n",
        "model.requires_grad_(False)  # !\nopt = Adam(model.parameters())\n",
        FROZEN.format("") + "model.head = nn.Linear(2, 2)\nopt = Adam(model.parameters())\n",
        ("for p in teacher.parameters():\n    p.requires_grad = False\n"
        "opt = Adam(model.parameters())\n"),
        *(f"model.requires_grad_(False)\n{line}\nopt = Adam(model.parameters())\n" for line in (
            "model = get_peft_model(model, c)", "model.head.requires_grad_(True)")),
    ],
    "padding_not_ignored": [
        ("y = pad_sequence(labels, batch_first=True, padding_value=0)  # !\n"
        "criterion = nn.CrossEntropyLoss()\n"),
        "c = DataCollatorForSeq2Seq(tok, label_pad_token_id=-1)  # !\nl = F.cross_entropy(a, b)\n",
        "y = pad_sequence(labels, padding_value=-100)\nc = nn.CrossEntropyLoss()\n",
        "y = pad_sequence(labels)\nc = nn.CrossEntropyLoss(ignore_index=0)\n",
        "y = pad_sequence(labels, padding_value=pad)\nc = nn.CrossEntropyLoss()\n",
        "x = pad_sequence(input_ids)\nc = nn.CrossEntropyLoss()\n",
        "y = pad_sequence(labels)\nc = nn.CrossEntropyLoss(ignore_index=pad)\n",
    ],
    "hooks_in_loop": [
        loop("loss.backward()", "layer.register_forward_hook(f)  # !; loss.backward()"),
        "for layer in model.modules():\n    layer.register_forward_hook(f)\n" + LOOP,
        loop("loss.backward()",
             "h = layer.register_forward_hook(f); loss.backward(); h.remove()"),
    ],
    "training_not_shuffled": [
        "loader = DataLoader(train_set, batch_size=4, shuffle=False)  # !\n",
        "loader = DataLoader(test_set, shuffle=False)\n",
        "loader = DataLoader(train_set, sampler=s, shuffle=False)\n",
        "loader = DataLoader(train_set)\n",
    ],
}  # fmt: skip


def found(tmp_path, text, name="train.py"):
    path = tmp_path / name
    path.write_text(text)
    return code_findings(path)


@pytest.mark.parametrize(
    ("pattern", "text"), [(pattern, text) for pattern, texts in CASES.items() for text in texts]
)
def test_a_slip_is_found_where_it_is_one_and_not_beside_it(tmp_path, pattern, text):
    marked = [
        (line, quote.strip())
        for line, quote in enumerate(text.splitlines(), start=1)
        if quote.endswith("# !")
    ]
    findings = [each for each in found(tmp_path, text) if each.id == pattern]
    assert [(each.line, each.quote) for each in findings] == marked
    assert all((each.kind, each.source) == ("code", "train.py") for each in findings)


def test_every_pattern_is_declared_and_has_cases_of_both_kinds():
    names = [pattern.__name__ for pattern in CODE_PATTERNS]
    assert sorted(slips()) == sorted(names) == sorted(CASES)
    assert all({"# !" in text for text in texts} == {True, False} for texts in CASES.values())


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
        "for x in\n", "(" * 100_000, "-" * 100_000 + "1", "x\0y", "#" * (2**20 + 1),
        "a." * 60_000 + "b",
    ],
)  # fmt: skip
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
