/** Back and Forward bring an address; the app hears of it, and what it then says of the same address is no new one. */
function render() {
  const push = history.pushState;
  history.pushState = function (state, title, url) {
    if (new URL(url || "", location.href).href !== location.href) push.call(history, state, title, url);
  };
  const turned = () => {
    const place = Bokeh.documents.flatMap((page) => page.roots()).find((root) => root.type.endsWith(".Location"));
    if (place) place.search = location.search;
  };
  addEventListener("popstate", turned);
  return () => {
    removeEventListener("popstate", turned);
    history.pushState = push;
  };
}

export default { render };
