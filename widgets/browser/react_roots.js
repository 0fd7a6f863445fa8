/**
 * A component that is drawn again before its first drawing is on the page has no React root yet, where Panel (1.9.4,
 * `ReactComponentView.render`) calls `unmount` all the same: an error that nobody catches. Here it gets an empty one.
 */
function render() {
  const view = Bokeh.Models.get("panel.models.esm.ReactComponent").prototype.default_view.prototype;
  const draw = view.render;
  view.render = function () {
    this.react_root &&= this.react_root.then((/** @type {unknown} */ root) => root ?? { unmount() {} });
    return draw.call(this);
  };
}

export default { render };
