views.failure = { title: "Failure", render(container) { container.append(h("h1", {}, "Failure")); } };
