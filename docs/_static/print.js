// Paper is light: print with the light theme, then go back to the theme of the screen.
"use strict";

(() => {
  const page = document.documentElement;
  const printing = window.matchMedia("print");
  let onScreen = null;

  const choose = () => {
    if (printing.matches && onScreen === null) {
      onScreen = page.dataset.theme;
      page.dataset.theme = "light";
    } else if (!printing.matches && onScreen !== null) {
      page.dataset.theme = onScreen;
      onScreen = null;
    }
  };

  printing.addEventListener("change", choose);
  document.addEventListener("DOMContentLoaded", choose);
})();
