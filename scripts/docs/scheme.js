// Before anything is drawn: the colours that the reader has chosen, and that scripts run.
document.documentElement.dataset.scripts = "";
try {
  const scheme = localStorage.getItem("banyan-docs-scheme");
  if (scheme !== null) document.documentElement.dataset.scheme = scheme;
} catch {
  // no storage here: the system's colours
}
