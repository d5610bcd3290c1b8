startTorquePlots();
startArmView();
startParameterTable();
// On paper nothing can be unfolded.
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((part) => (part.open = true)));
document.documentElement.dataset.ready = "yes";
