// Boot: everything is registered; the page begins.

document.getElementById("scale").textContent = data("landing").scale;
start();
