/**
 * Light or dark: as the system says, until somebody turns it; what is shown is kept for the next visit. The cookie
 * reads "dark" or "light" where somebody chose it, "system dark" or "system light" where the system did.
 */

function render() {
  const page = Bokeh.documents.flatMap((visit) => visit.roots()).find(
    (root) => root.data && "theme_toggle" in root.data
  )?.data;
  if (!page) return undefined;
  const saved = /(?:^|; )night=([a-z%0-9]+)/.exec(document.cookie)?.[1] ?? "";
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const system = () => (scheme.matches ? "dark" : "light");
  let chosen = saved === "dark" || saved === "light";
  const shown = () => (page.dark_theme ? "dark" : "light");
  const keep =
    () => (document.cookie = `night=${chosen ? "" : "system%20"}${shown()}; path=/; max-age=31536000; SameSite=Lax`);
  const follow = () => {
    if (!chosen && shown() !== system()) page.dark_theme = system() === "dark";
    keep();
  };
  const turned = () => {
    chosen = shown() !== system();
    keep();
  };
  follow();
  page.properties.dark_theme.change.connect(turned);
  scheme.addEventListener("change", follow);
  return () => {
    page.properties.dark_theme.change.disconnect(turned);
    scheme.removeEventListener("change", follow);
  };
}

export default { render };
