// What BokehJS puts on the page.
declare const Bokeh: any;

interface Window {
  Bokeh: any;
}
