views.failures = { title: "Failures", render(container) { container.append(h("h1", {}, "Failures")); } };
