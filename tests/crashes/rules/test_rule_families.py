"""Each family of rules sees a violation, and is silent about its neighbour that is none."""

from __future__ import annotations

import pytest

from failbench.crashes.question import Question
from failbench.crashes.rules.predict import predict

NUMPY = "import numpy as np\nrng = np.random.default_rng(0)"
PANDAS = NUMPY + (
    "\nimport pandas as pd\n"
    'df = pd.DataFrame({"g": ["a", "b", "b"], "n": [1, 2, 3], "x": [0.5, np.nan, 2.0]})'
)
SKLEARN = NUMPY + (
    "\nimport pandas as pd\nfrom sklearn.linear_model import LogisticRegression, LinearRegression\n"
    "from sklearn.preprocessing import StandardScaler, LabelEncoder\n"
    "from sklearn.model_selection import GridSearchCV, train_test_split\n"
    "from sklearn.pipeline import make_pipeline\nfrom sklearn.cluster import KMeans\n"
    "from sklearn.metrics import accuracy_score, f1_score\nfrom sklearn.svm import SVC\n"
    "from sklearn.datasets import load_iris\nX, y = load_iris(return_X_y=True)"
)
MATPLOTLIB = (
    NUMPY + "\nimport matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nt = np.arange(10)"
)
LIGHTGBM = NUMPY + (
    "\nimport lightgbm as lgb\nimport pandas as pd\nX = rng.normal(size=(100, 4))\n"
    "y = rng.integers(0, 2, 100)"
)
TORCH = NUMPY + (
    "\nimport torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
    "x = torch.randn(8, 4)\ny = torch.randint(0, 3, (8,))"
)

CASES = [
    # before, violating, exception, not violating
    ("", "print(missing)", "NameError", "missing = 1\nprint(missing)"),
    ("a = 1\ndel a", "a + 1", "NameError", "a = 2\na + 1"),
    ("def f():\n    inner = 1\n    return inner", "f()\ninner", "NameError", "inner = f()\ninner"),
    ("n = 0\ndef f():\n    n = n + 1\n    return n", "f()", "UnboundLocalError", "n + 1"),
    ("d = {'a': 1}", "d['b']", "KeyError", "d.get('b')"),
    ("v = [1, 2, 3]", "v[3]", "IndexError", "v[2]"),
    ("v = [1, 2, 3]", "a, b = v", "ValueError", "a, *b = v"),
    ("def f(a, b=1): return a", "f(c=2)", "TypeError", "f(2)"),
    ("", "int('1.5')", "ValueError", "float('1.5')"),
    ("", "'a' + 1", "TypeError", "'a' + str(1)"),
    ("", "max([])", "ValueError", "max([], default=0)"),
    (NUMPY, "np.ones((3, 4)) + np.ones((3, 5))", "ValueError", "np.ones((3, 4)) + np.ones((3, 1))"),
    (
        NUMPY,
        "rng.random((3, 4)) @ rng.random((3, 4))",
        "ValueError",
        "rng.random((3, 4)) @ np.ones(4)",
    ),
    (NUMPY, "rng.random(10).reshape(3, 4)", "ValueError", "rng.random(12).reshape(3, -1)"),
    (
        NUMPY,
        "np.concatenate([np.ones((2, 3)), np.ones((2, 4))])",
        "ValueError",
        "np.concatenate([np.ones((2, 3)), np.ones((2, 4))], axis=1)",
    ),
    (NUMPY, "np.array([[1], [1, 2]])", "ValueError", "np.array([[1], [1, 2]], dtype=object)"),
    (NUMPY, "rng.random((3, 4)).sum(axis=2)", "AxisError", "rng.random((3, 4)).sum(axis=1)"),
    (NUMPY, "rng.random(5)[rng.random(4) > 0]", "IndexError", "rng.random(5)[rng.random(5) > 0]"),
    (NUMPY, "rng.random(5)[1.0]", "IndexError", "rng.random(5)[1]"),
    (NUMPY, "np.array(['a', 'b']).mean()", "UFuncTypeError", "np.array([1, 2]).mean()"),
    (NUMPY, "np.float(1)", "AttributeError", "np.float64(1)"),
    (NUMPY, "rng.randint(3)", "AttributeError", "rng.integers(3)"),
    (
        NUMPY,
        "np.zeros(3, size=2)\nnp.linspace(0, 1, count=3)",
        "TypeError",
        "np.linspace(0, 1, num=3)",
    ),
    (NUMPY, "np.linalg.inv(np.ones((2, 2)))", "LinAlgError", "np.linalg.inv(np.eye(2))"),
    (NUMPY, "rng.choice(3, 5, replace=False)", "ValueError", "rng.choice(5, 3, replace=False)"),
    (NUMPY, "np.zeros((10**6, 10**6))", "MemoryError", "np.zeros((10, 10))"),
    (NUMPY + "\nn = np.arange(3)", "n += 0.5", "UFuncTypeError", "n = n + 0.5"),
    (NUMPY, "int(np.array([]).mean())", "ValueError", "int(np.array([1.0]).mean())"),
    (PANDAS, "df['missing']", "KeyError", "df['x']"),
    (PANDAS, "df.groupby('missing')", "KeyError", "df.groupby('g')"),
    (PANDAS, "df.drop(columns=['missing'])", "KeyError", "df.drop(columns=['x'])"),
    (PANDAS, "df['new'] = [1, 2]", "ValueError", "df['new'] = [1, 2, 3]"),
    (PANDAS, "df.columns = ['a']", "ValueError", "df.columns = ['a', 'b', 'c']"),
    (PANDAS, "df['n'].str.upper()", "AttributeError", "df['g'].str.upper()"),
    (PANDAS, "df['x'].astype(int)", "IntCastingNaNError", "df['x'].fillna(0).astype(int)"),
    (PANDAS, "df.mean()", "TypeError", "df.mean(numeric_only=True)"),
    (PANDAS, "df.iloc[3]", "IndexError", "df.iloc[2]"),
    (PANDAS, "df.loc[3]", "KeyError", "df.loc[2]"),
    (PANDAS, "df.append(df)", "AttributeError", "pd.concat([df, df])"),
    (PANDAS, "pd.concat([])", "ValueError", "pd.concat([df])"),
    (
        PANDAS,
        "df.pivot(index='g', columns='g', values='n')",
        "ValueError",
        "df.pivot(index='n', columns='g', values='x')",
    ),
    (PANDAS, "if df['n'] > 1:\n    pass", "ValueError", "if (df['n'] > 1).any():\n    pass"),
    (PANDAS, "df['g'] + 1", "TypeError", "df['n'] + 1"),
    (PANDAS, "pd.cut(df['n'], [3, 1])", "ValueError", "pd.cut(df['n'], [0, 3])"),
    (PANDAS, "df.sample(5)", "ValueError", "df.sample(2)"),
    (PANDAS, "df['n'].fillna(method='ffill')", "TypeError", "df['n'].ffill()"),
    (
        SKLEARN,
        "LogisticRegression().predict(X)",
        "NotFittedError",
        "LogisticRegression().fit(X, y).predict(X)",
    ),
    (
        SKLEARN,
        "StandardScaler().transform(X)",
        "NotFittedError",
        "StandardScaler().fit_transform(X)",
    ),
    (SKLEARN, "LinearRegression().coef_", "AttributeError", "LinearRegression().fit(X, y).coef_"),
    (
        SKLEARN,
        "LinearRegression().fit(X[:, 0], y)",
        "ValueError",
        "LinearRegression().fit(X[:, :1], y)",
    ),
    (
        SKLEARN,
        "LinearRegression().fit(X[:10], y)",
        "ValueError",
        "LinearRegression().fit(X[:10], y[:10])",
    ),
    (
        SKLEARN,
        "LinearRegression().fit(X, y).predict(X[:, :2])",
        "ValueError",
        "LinearRegression().fit(X, y).predict(X[:2])",
    ),
    (
        SKLEARN,
        "LogisticRegression().fit(X, y + 0.5)",
        "ValueError",
        "LinearRegression().fit(X, y + 0.5)",
    ),
    (SKLEARN, "LogisticRegression(penalti='l2')", "TypeError", "LogisticRegression(C=2.0)"),
    (
        SKLEARN,
        "LogisticRegression(C=-1.0).fit(X, y)",
        "InvalidParameterError",
        "SVC(kernel='rbf').fit(X, y)",
    ),
    (
        SKLEARN,
        "make_pipeline(StandardScaler(), SVC()).set_params(svm__C=1)",
        "ValueError",
        "make_pipeline(StandardScaler(), SVC()).set_params(svc__C=1)",
    ),
    (
        SKLEARN,
        "GridSearchCV(SVC(), {'c': [1]}).fit(X, y)",
        "ValueError",
        "GridSearchCV(SVC(), {'C': [1]}).fit(X, y)",
    ),
    (SKLEARN, "KMeans(n_clusters=200).fit(X)", "ValueError", "KMeans(n_clusters=3).fit(X)"),
    (
        SKLEARN,
        "LabelEncoder().fit(['a', 'b']).transform(['c'])",
        "ValueError",
        "LabelEncoder().fit(['a', 'b']).transform(['a'])",
    ),
    (
        SKLEARN,
        "train_test_split(X, y, test_size=500)",
        "ValueError",
        "train_test_split(X, y, test_size=0.5)",
    ),
    (SKLEARN, "f1_score(y, y)", "ValueError", "f1_score(y, y, average='macro')"),
    (SKLEARN, "accuracy_score(y, y[:3])", "ValueError", "accuracy_score(y, y)"),
    (
        SKLEARN,
        "from sklearn.cross_validation import KFold",
        "ModuleNotFoundError",
        "from sklearn.model_selection import KFold",
    ),
    (MATPLOTLIB, "ax.plot(t, t[:5])", "ValueError", "ax.plot(t, t)"),
    (MATPLOTLIB, "ax.scatter(t, t, c=t[:5] * 1.0)", "ValueError", "ax.scatter(t, t, c=t)"),
    (MATPLOTLIB, "ax.plot(t, color='reddish')", "ValueError", "ax.plot(t, color='red')"),
    (MATPLOTLIB, "ax.plot(t, colour='red')", "AttributeError", "ax.plot(t, lw=2)"),
    (
        MATPLOTLIB,
        "ax.imshow(rng.random((3, 8, 8)))",
        "TypeError",
        "ax.imshow(rng.random((8, 8, 3)))",
    ),
    (MATPLOTLIB, "plt.subplots(1, 3)[1][0, 1]", "IndexError", "plt.subplots(2, 3)[1][0, 1]"),
    (MATPLOTLIB, "ax[0]", "TypeError", "plt.subplots(1, 2)[1][0]"),
    (MATPLOTLIB, "ax.pie([1, -1])", "ValueError", "ax.pie([1, 1])"),
    (MATPLOTLIB, "ax.set_zlabel('z')", "AttributeError", "ax.set_xlabel('x')"),
    (MATPLOTLIB, "fig.savefig('a.pngg')", "ValueError", "fig.savefig('a.png')"),
    (MATPLOTLIB, "ax.set_xticks([0, 1], ['a'])", "ValueError", "ax.set_xticks([0, 1], ['a', 'b'])"),
    (
        LIGHTGBM,
        "lgb.LGBMClassifier().predict(X)",
        "NotFittedError",
        "lgb.LGBMClassifier().fit(X, y).predict(X)",
    ),
    (
        LIGHTGBM,
        "lgb.train({}, lgb.Dataset(X, label=y[:50]))",
        "LightGBMError",
        "lgb.train({}, lgb.Dataset(X, label=y))",
    ),
    (
        LIGHTGBM,
        "lgb.LGBMClassifier(num_leaves=1).fit(X, y)",
        "LightGBMError",
        "lgb.LGBMClassifier(num_leaves=4).fit(X, y)",
    ),
    (
        LIGHTGBM,
        "lgb.train({}, lgb.Dataset(X, label=y), verbose_eval=5)",
        "TypeError",
        "lgb.train({}, lgb.Dataset(X, label=y), callbacks=[lgb.log_evaluation(5)])",
    ),
    (
        LIGHTGBM,
        "lgb.train({}, lgb.Dataset(X, label=y)).predict(X[:, :2])",
        "LightGBMError",
        "lgb.train({}, lgb.Dataset(X, label=y)).predict(X[:2])",
    ),
    (
        LIGHTGBM,
        "lgb.LGBMRegressor().fit(pd.DataFrame({'a': ['u', 'v']}), [1, 2])",
        "ValueError",
        "lgb.LGBMRegressor().fit(pd.DataFrame({'a': [1, 2]}), [1, 2])",
    ),
    (TORCH, "nn.Linear(5, 2)(x)", "RuntimeError", "nn.Linear(4, 2)(x)"),
    (TORCH, "nn.Linear(4, 2)(x.double())", "RuntimeError", "nn.Linear(4, 2).double()(x.double())"),
    (TORCH, "F.cross_entropy(x, y.float())", "RuntimeError", "F.cross_entropy(x, y)"),
    (TORCH, "nn.CrossEntropyLoss()(x, y[:3])", "ValueError", "nn.CrossEntropyLoss()(x[:3], y[:3])"),
    (
        TORCH,
        "F.cross_entropy(x, torch.tensor([4] * 8))",
        "IndexError",
        "F.cross_entropy(x, torch.tensor([3] * 8))",
    ),
    (
        TORCH,
        "nn.Embedding(3, 2)(torch.tensor([3]))",
        "IndexError",
        "nn.Embedding(4, 2)(torch.tensor([3]))",
    ),
    (TORCH, "torch.cat([x, x[:, :2]])", "RuntimeError", "torch.cat([x, x[:, :2]], dim=1)"),
    (TORCH, "x.T.view(-1)", "RuntimeError", "x.T.reshape(-1)"),
    (TORCH, "y.mean()", "RuntimeError", "y.float().mean()"),
    (TORCH, "x.to('cuda')", "AssertionError", "x.to('cpu')"),
    (TORCH, "torch.zeros(2, device='meta').cpu()", "NotImplementedError", "torch.zeros(2).cpu()"),
    (TORCH, "x.sum().backward()", "RuntimeError", "nn.Linear(4, 1)(x).sum().backward()"),
    (TORCH, "nn.Linear(4, 1)(x).numpy()", "RuntimeError", "nn.Linear(4, 1)(x).detach().numpy()"),
    (
        TORCH,
        "torch.optim.SGD([], lr=0.1)",
        "ValueError",
        "torch.optim.SGD(nn.Linear(1, 1).parameters(), lr=0.1)",
    ),
    (
        TORCH,
        "nn.Linear(4, 2).load_state_dict(nn.Linear(4, 3).state_dict())",
        "RuntimeError",
        "nn.Linear(4, 3).load_state_dict(nn.Linear(4, 3).state_dict())",
    ),
    (
        TORCH,
        "torch.utils.data.TensorDataset(x, y[:3])",
        "AssertionError",
        "torch.utils.data.TensorDataset(x, y)",
    ),
    (
        TORCH,
        "nn.Conv2d(1, 2, 3)(torch.ones(1, 3, 8, 8))",
        "RuntimeError",
        "nn.Conv2d(3, 2, 3)(torch.ones(1, 3, 8, 8))",
    ),
]


@pytest.mark.parametrize(("before", "violating", "exception", "sound"), CASES)
def test_a_rule_sees_the_violation_and_not_its_neighbour(before, violating, exception, sound):
    seen = predict(Question((before,), violating))
    assert (seen.crash, seen.exception) == (True, exception), seen.reason
    assert predict(Question((before,), sound)).crash is False


def test_the_line_is_that_of_the_target_where_it_raises():
    prediction = predict(
        Question(("def f(v):\n    w = v\n    return w[9]",), "a = 1\n\nf([1])\nb = 2")
    )
    assert (prediction.line, prediction.exception) == (3, "IndexError")


def test_what_may_not_be_executed_raises_no_alarm():
    doubtful = "import random\nif random.random() > 0.5:\n    missing\n"
    assert predict(Question((), doubtful)).crash is False


def test_what_is_handled_raises_no_alarm():
    assert predict(Question((), "try:\n    missing\nexcept NameError:\n    pass")).crash is False
    assert predict(Question((), "try:\n    missing\nexcept KeyError:\n    pass")).crash is True


def test_both_branches_must_violate():
    unknown = "import os\nflag = os.environ.get('A')"
    both = "if flag:\n    {}['a']\nelse:\n    {}['b']"
    assert predict(Question((unknown,), both)).exception == "KeyError"
    assert predict(Question((unknown,), "if flag:\n    {}['a']")).crash is False


def test_state_follows_the_order_of_execution():
    cells = ("v = [1, 2, 3, 4]", "v = v[2:]", "v = v[2:]")
    assert predict(Question(cells[:2], "v[1]")).crash is False
    assert predict(Question(cells, "v[1]")).exception == "IndexError"
