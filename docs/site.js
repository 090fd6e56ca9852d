// The switch of languages in the header leads to the twin of this page, as the link below its title does.
const twin = document.querySelector("a.twin");
if (twin) {
  document.querySelector(`a.md-select__link[hreflang=${twin.hreflang}]`).href = twin.href;
}
