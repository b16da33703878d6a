import pytest

from failbench.notebooks.relevant import relevant_names


@pytest.mark.parametrize(
    ("executed", "target", "names"),
    [
        ([], "print(len(rows))", ["rows"]),
        ([], "total = sum(x * k for x in rows)", ["k", "rows"]),
        (["def f(a):\n    return a + shift"], "f(1)", ["f", "shift"]),
        (["def g(): return deep", "def f(): return g()"], "f()", ["deep", "f", "g"]),
        (["def f(a):\n    shift = 1\n    return a + shift"], "f(1)", ["f"]),
        (["class Net:\n    def run(self): return size", "net = Net()"], "net.run()",
         ["Net", "net", "size"]),
        (["def f(): return old", "def f(): return new"], "f()", ["f", "new"]),
        (["a = b + c"], "a", ["a"]),
    ],
)  # fmt: skip
def test_names_are_those_that_are_read_in_the_end(executed, target, names):
    assert list(relevant_names(executed, target).names) == names


def test_attributes_are_those_that_the_target_and_its_functions_ask_for():
    found = relevant_names(["def f(x):\n    return np.product(x)"], "f(data.values)")
    assert found.attributes == {"data": ("values",), "np": ("product",)}


def test_a_cell_that_is_no_python_is_an_error():
    with pytest.raises(SyntaxError):
        relevant_names([], "def")
