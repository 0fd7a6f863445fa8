// What BokehJS puts on the page.
declare const Bokeh: any;

interface Window {
  Bokeh: any;
}

// What `bundle.py` puts in place of `import sheet from "./sheet.css" with { type: "text" }`.
declare module "*.css" {
  const text: string;
  export default text;
}
