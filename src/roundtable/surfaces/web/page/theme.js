// Runs before anything is drawn, so that a chosen theme does not flash. A file from disk may have no storage.
(() => {
  try {
    const chosen = localStorage.getItem("roundtable-theme");
    if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
  } catch {
    // The system's theme it is.
  }
})();
