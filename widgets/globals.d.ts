// What BokehJS puts on the page; the attributes of a model are those of its class.
declare const Bokeh: {
  documents: { roots(): any[]; on_event(name: string, act: () => void): void }[];
  Models: { get(type: string): { prototype: { default_view: { prototype: any } } } };
  index: { query_one(of: (view: { el: Element; model: any }) => boolean): { model: any } | null };
};

interface Window {
  Bokeh?: typeof Bokeh;
  __playground?: PageQueue;
  __playgroundViews?: Map<string, number>;
}

// What `bundle.py` puts in place of `import sheet from "./sheet.css" with { type: "text" }`.
declare module "*.css" {
  const text: string;
  export default text;
}

// All elements of our pages are of HTML, SVG or MathML, so all have a data set, a focus and a style.
interface Element extends HTMLOrSVGElement, ElementCSSInlineStyle {
  __stage?: unknown; // the handles that the browser tests talk to
  __table?: unknown;
  __replay?: unknown;
}

/** An event as an element of a page hears it. */
type On<E extends Event = Event, T extends Element = Element> = E & { readonly target: T };

/** What a target hears: acts by the names of events. */
type Heard = { [K in keyof WindowEventMap]?: (event: On<WindowEventMap[K]>) => unknown };

/** How far each key goes. */
type Steps = Record<string, number>;

/** What a list shows of an objective or a strategy; a search looks through all of it. */
interface Card {
  name: string; names: string[]; group: string; idea: string; models?: string[]; shared?: string; source?: string;
  rate?: string;
}

/** A drawing of a page: its kind, the id of its element, its data, and the widget it is in reserve for. */
type PageCell = [kind: string, id: string, data: any, reserve?: string];

/** What a host keeps of a drawing. */
interface Handle { destroy(): void; }

// -- a document of a corpus with its annotations, as `Sheet.record` makes it

/** Words that have a value, from the first to the last: its name, its code, the hue and the dash of its bar. */
interface Run { first: number; last: number; said: string; code: string; hue: string; dash: string; }

/** `[word, word, relation]`: an arc goes from a head to the word that depends on it. */
type Link = [number, number, string];

interface Layer { name: string; style: "bar" | "bracket" | "arc" | "link"; runs: Run[]; links: Link[]; }

interface AnnotatedDocument {
  words: string[]; tight: boolean[]; sentences: number[]; language: number; layers: Layer[];
}

/** The line of a word, its left edge and its width. */
interface WordBox { line: number; x: number; w: number; }

interface PageQueue { push(...cells: PageCell[]): unknown; splice(at: number): PageCell[]; }
