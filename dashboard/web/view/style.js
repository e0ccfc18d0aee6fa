// The element's style sheet. It is constructed, so that no page has to allow
// inline styles. Themes are custom properties, which the painter reads too; a page
// may set each --graph-view-* of its own.

const light = `
  --bg: #eef1f6; --place: #f7f9fc; --place-edge: #d3dbe6; --box: #ffffff; --box-edge: #dbe2ec; --card: #ffffff; --card-edge: #c9d3df;
  --text: #16202e; --soft: #56637a; --faint: #8794a8; --line: #a9b6c7; --owns: #7f8fa6; --mini: #d9e0ea;
  --accent: #0b62d0; --accent-soft: #e3eefd; --lit: #fff3c4;
  --bad: #c3161c; --bad-soft: #fdecec; --warn: #8a5a00; --warn-soft: #fff4de; --idle: #5b5f86; --idle-soft: #ececf6; --good: #23824a;
  --network: #0a66c2; --policy: #566173; --workload: #5b3fd0; --other: #3f5a76; --config: #8d5800; --storage: #0b7366; --identity: #9c2a6b;
  --surface: #ffffff; --surface-edge: #d5dce6; --hover: #f0f4fa; --shadow: 0 1px 2px #0f1b2e14, 0 6px 20px #0f1b2e14;`;
const dark = `
  --bg: #0c1118; --place: #121924; --place-edge: #263143; --box: #182130; --box-edge: #2a374a; --card: #1f2a3b; --card-edge: #394960;
  --text: #eef3fa; --soft: #a7b4c6; --faint: #7f8da2; --line: #4e607a; --owns: #6d819e; --mini: #2c3a4f;
  --accent: #6db0ff; --accent-soft: #19304f; --lit: #4a3f14;
  --bad: #ff8280; --bad-soft: #3d1a20; --warn: #f2b84b; --warn-soft: #3a2c10; --idle: #b3b6e6; --idle-soft: #2a2b45; --good: #56c683;
  --network: #74b6ff; --policy: #aab6c8; --workload: #b3a1ff; --other: #9bb7d6; --config: #eeb25c; --storage: #55cdbd; --identity: #f48fc5;
  --surface: #151d29; --surface-edge: #2b384b; --hover: #1f2a3a; --shadow: 0 1px 2px #0008, 0 6px 20px #0006;`;
const forced = `
  --bg: Canvas; --place: Canvas; --place-edge: CanvasText; --box: Canvas; --box-edge: CanvasText; --card: Canvas; --card-edge: CanvasText;
  --text: CanvasText; --soft: CanvasText; --faint: CanvasText; --line: CanvasText; --owns: CanvasText; --mini: GrayText;
  --accent: Highlight; --accent-soft: Canvas; --lit: Mark; --bad: LinkText; --bad-soft: Canvas; --warn: LinkText; --warn-soft: Canvas;
  --idle: CanvasText; --idle-soft: Canvas; --good: CanvasText; --network: CanvasText; --policy: CanvasText; --workload: CanvasText; --other: CanvasText;
  --config: CanvasText; --storage: CanvasText; --identity: CanvasText; --surface: Canvas; --surface-edge: CanvasText; --hover: Canvas; --shadow: none;`;

const namesAndValues = (block) => Object.fromEntries([...block.matchAll(/--([a-z-]+): ([^;]*);/g)].map(([, name, value]) => [name, value]).filter(([name]) => name !== "shadow"));

/** The colours of both themes, by the names of their custom properties. */
export const palettes = { light: namesAndValues(light), dark: namesAndValues(dark) };

/** The custom properties that the painter reads. */
export const colours = Object.keys(palettes.light);

const overridable = (block) => block.replace(/--([a-z-]+): ([^;]+);/g, "--$1: var(--graph-view-$1, $2);");

const text = `
:host { display: block; min-height: 240px; height: 100%; contain: content; }
.root { ${overridable(light)} color-scheme: light; }
@media (prefers-color-scheme: dark) { .root:not([data-theme=light]) { ${overridable(dark)} color-scheme: dark; } }
.root[data-theme=dark] { ${overridable(dark)} color-scheme: dark; }
@media (forced-colors: active) { .root.root { ${forced} } }
.root {
  --font: var(--graph-view-font, Inter, "Segoe UI", system-ui, -apple-system, "Noto Sans", sans-serif);
  display: grid; grid-template: auto auto 1fr auto auto / auto minmax(0, 1fr) auto; height: 100%; width: 100%; position: relative; overflow: hidden;
  background: var(--bg); color: var(--text); font: 13px/1.45 var(--font); text-align: start; box-sizing: border-box;
}
.root *, .root *::before { box-sizing: border-box; }
.bar { grid-area: 1 / 1 / 2 / 4; display: flex; flex-wrap: wrap; gap: 6px 8px; align-items: center; padding: 8px 12px; background: var(--surface); border-bottom: 1px solid var(--surface-edge); position: relative; z-index: 4; }
.notes { grid-area: 2 / 1 / 3 / 4; z-index: 3; }
.outline { grid-area: 3 / 1 / 6 / 2; width: 460px; max-width: 60vw; border-right: 1px solid var(--surface-edge); background: var(--surface); display: flex; flex-direction: column; min-height: 0; }
.map { grid-area: 3 / 2 / 4 / 3; position: relative; min-width: 0; min-height: 0; overflow: hidden; }
.panel { grid-area: 3 / 3 / 6 / 4; width: 380px; max-width: 85vw; border-left: 1px solid var(--surface-edge); background: var(--surface); overflow: auto; min-height: 0; }
.legend { grid-area: 4 / 2 / 5 / 3; display: flex; flex-wrap: wrap; justify-content: center; gap: 0 16px; height: 22px; overflow: hidden; padding: 0 12px; background: var(--bg); color: var(--soft); font-size: 11.5px; line-height: 22px; }
.legend > span { display: flex; align-items: center; gap: 5px; white-space: nowrap; } .legend i { width: 4px; height: 12px; background: currentColor; border-radius: 1px; } .legend i + span { color: var(--soft); }
.timeline { grid-area: 5 / 2 / 6 / 3; background: var(--surface); border-top: 1px solid var(--surface-edge); }
[hidden] { display: none !important; }
.map.past::after { content: ""; position: absolute; inset: 0; pointer-events: none; box-shadow: inset 0 0 0 3px var(--accent); } .map.past canvas { filter: saturate(.55); }
.map.stale canvas { filter: saturate(.3) opacity(.65); }
canvas { position: absolute; inset: 0; width: 100%; height: 100%; display: block; touch-action: none; cursor: grab; }
canvas.over { cursor: pointer; } canvas.dragging { cursor: grabbing; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.map canvas:focus-visible { outline-offset: -3px; }
button, input, select { font: inherit; color: inherit; }
select { border: 1px solid var(--surface-edge); background: var(--surface); border-radius: 7px; padding: 3px 6px; min-height: 30px; cursor: pointer; }
button { border: 1px solid var(--surface-edge); background: var(--surface); border-radius: 7px; padding: 4px 10px; min-height: 30px; cursor: pointer; display: inline-flex; gap: 6px; align-items: center; white-space: nowrap; }
button:hover { background: var(--hover); }
button[aria-pressed=true], button[aria-expanded=true] { background: var(--accent-soft); border-color: var(--accent); }
button.icon { padding: 4px; width: 30px; justify-content: center; }
button.link { border: 0; background: none; padding: 0 2px; min-height: 24px; color: var(--accent); text-decoration: underline; border-radius: 4px; }
button svg { width: 16px; height: 16px; fill: none; stroke: currentColor; stroke-width: 1.6; stroke-linecap: round; stroke-linejoin: round; flex: none; }
.field { position: relative; flex: 0 1 320px; min-width: 150px; }
input[type=search] { width: 100%; min-height: 30px; border: 1px solid var(--surface-edge); border-radius: 7px; background: var(--bg); padding: 4px 10px; text-overflow: ellipsis; }
.grow { flex: 1 1 auto; }
.pill { display: inline-flex; align-items: center; gap: 6px; color: var(--soft); white-space: nowrap; }
.pill::before { content: ""; width: 8px; height: 8px; border-radius: 50%; background: var(--faint); flex: none; }
.pill.live::before { background: var(--good); } .pill.reconnecting::before, .pill.connecting::before, .pill.nothing::before { background: var(--warn); } .pill.ended::before { background: var(--bad); } .pill.past::before { background: var(--accent); }
.count-bad { color: var(--bad); font-weight: 650; }
.popup { position: absolute; z-index: 9; background: var(--surface); border: 1px solid var(--surface-edge); border-radius: 10px; box-shadow: var(--shadow); padding: 8px; max-height: min(70vh, 620px); overflow: auto; width: max-content; max-width: min(460px, 92vw); }
.note { display: flex; gap: 10px; align-items: center; padding: 6px 14px; border-bottom: 1px solid var(--surface-edge); background: var(--surface); flex-wrap: wrap; }
.note.warn { background: var(--warn-soft); } .note.bad { background: var(--bad-soft); }
.note.quiet { padding: 2px 14px; color: var(--soft); font-size: 12px; background: var(--bg); }
.note b { font-weight: 650; }
.note.past { background: var(--accent-soft); box-shadow: inset 0 -2px var(--accent); }
.chip { display: inline-flex; align-items: center; gap: 4px; background: var(--accent-soft); border: 1px solid var(--accent); color: var(--text); border-radius: 20px; padding: 1px 4px 1px 10px; min-height: 26px; }
.chip button { border: 0; background: none; min-height: 24px; min-width: 24px; padding: 0; justify-content: center; border-radius: 50%; }
.zoom { position: absolute; right: 14px; bottom: 14px; display: flex; flex-direction: column; gap: 6px; }
.zoom button { background: var(--surface); box-shadow: var(--shadow); }
.empty { position: absolute; inset: 0; display: grid; place-content: center; text-align: center; color: var(--soft); pointer-events: none; padding: 24px; gap: 6px; }
.empty strong { color: var(--text); font-size: 16px; font-weight: 650; }
.tip { position: absolute; pointer-events: none; background: var(--text); color: var(--bg); border-radius: 6px; padding: 4px 8px; font-size: 12px; max-width: 360px; z-index: 5; overflow-wrap: anywhere; }
.sr { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
h2 { font-size: 15px; line-height: 1.3; margin: 0; font-weight: 650; overflow-wrap: anywhere; }
h3 { font-size: 11.5px; letter-spacing: .02em; color: var(--soft); margin: 18px 0 4px; font-weight: 650; }
.panel .head { position: sticky; top: 0; background: var(--surface); padding: 14px 16px 10px; border-bottom: 1px solid var(--surface-edge); z-index: 1; }
.panel .body { padding: 2px 16px 24px; }
.panel .kind { color: var(--soft); font-size: 12px; display: flex; gap: 6px; align-items: center; }
.panel .actions { display: flex; gap: 6px; flex-wrap: wrap; margin-top: 10px; } .panel .actions button { padding: 4px 8px; }
.state { display: inline-flex; align-items: center; gap: 6px; font-weight: 600; border-radius: 6px; padding: 2px 8px; margin-top: 8px; }
.state.degraded, .state.missing { background: var(--bad-soft); color: var(--bad); } .state.progressing { background: var(--warn-soft); color: var(--warn); }
.state.suspended, .state.terminating { background: var(--idle-soft); color: var(--idle); } .state.ok, .state.optional, .state.outside, .state.unseen { background: var(--hover); color: var(--soft); }
.rows { list-style: none; margin: 0; padding: 0; }
.rows button.row { border: 0; background: none; padding: 4px 6px; margin: 0 -6px; display: grid; grid-template-columns: 20px 1fr; text-align: start; white-space: normal; min-height: 26px; gap: 0 6px; border-radius: 6px; width: calc(100% + 12px); }
.rows button.row:hover { background: var(--hover); }
.rows .name { overflow-wrap: anywhere; font-weight: 550; }
.rows .about { grid-column: 2; color: var(--soft); font-size: 11.5px; overflow-wrap: anywhere; }
.rows .bad { color: var(--bad); }
.rows .path { grid-column: 2; color: var(--soft); font: 11px/1.4 ui-monospace, "SF Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
.rows .change { display: grid; grid-template-columns: auto 1fr; gap: 0 8px; align-items: baseline; } .rows .change .row { grid-template-columns: minmax(0, 1fr); margin: 0; width: 100%; padding: 3px 6px; } .rows .change div.row { display: grid; } .rows .change .about { grid-column: 1; } .change button.link { font-size: 12px; font-variant-numeric: tabular-nums; text-decoration: none; } .change button.link:hover { text-decoration: underline; } .rows .followed .name { font-weight: 400; } .rows .name.bad { color: var(--bad); }
.then { display: inline-block; color: var(--text); background: var(--accent-soft); border-radius: 6px; padding: 2px 8px; margin-top: 8px; }
.more { color: var(--soft); font-size: 12px; }
dl.words dt { grid-column: 1 / 3; } dl.words dd { grid-column: 1 / 3; margin-bottom: 4px; }
dl { display: grid; grid-template-columns: auto 1fr; gap: 2px 12px; margin: 4px 0; } dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
pre { font: 11.5px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; background: var(--bg); border: 1px solid var(--surface-edge); border-radius: 8px; padding: 10px; overflow: auto; max-height: 420px; margin: 6px 0; white-space: pre; tab-size: 2; }
.glyph { width: 18px; height: 18px; flex: none; fill: none; stroke: currentColor; stroke-width: 1.5; stroke-linejoin: round; stroke-linecap: round; }
.network { color: var(--network); } .policy { color: var(--policy); } .workload { color: var(--workload); } .other { color: var(--other); } .config { color: var(--config); } .storage { color: var(--storage); } .identity { color: var(--identity); }
.grid-head, .grid-row { display: grid; grid-template-columns: minmax(0, 1fr) 124px 30px 34px; gap: 6px; align-items: center; padding: 0 10px; }
.grid-head { color: var(--soft); font-size: 11.5px; height: 28px; border-bottom: 1px solid var(--surface-edge); flex: none; }
.grid { position: relative; overflow: auto; flex: 1; outline-offset: -2px; }
.grid-row { position: absolute; left: 0; right: 0; height: 26px; cursor: default; }
.grid-row:hover { background: var(--hover); } .grid-row.on { background: var(--accent-soft); box-shadow: inset 3px 0 var(--accent); }
.grid-row > *, .grid-row .label, .grid-row .kindname, .timeline .more, .facets label span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.grid-row .first { display: flex; align-items: center; gap: 5px; }
.grid-row .label { flex: none; max-width: calc(100% - 42px); }
.grid-row .kindname { color: var(--soft); flex: 1 1 0; min-width: 0; font-size: 11.5px; }
.grid-row .pic { display: flex; }
.grid-row.group .label { font-weight: 650; } .grid-row .num { text-align: end; color: var(--soft); font-variant-numeric: tabular-nums; }
.grid-row.group > :nth-child(2) { grid-column: 2 / 5; } .grid-row.group > .num { display: none; }
.st { color: var(--soft); font-size: 12px; } .st.degraded, .st.missing { color: var(--bad); font-weight: 600; } .st.progressing { color: var(--warn); }
.twist { width: 14px; flex: none; color: var(--soft); text-align: center; }
.strip-head { display: flex; gap: 8px; align-items: center; padding: 4px 12px; }
.timeline { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 2fr) auto auto; align-items: center; gap: 0 12px; padding: 3px 12px; }
.strip { display: block; position: relative; inset: auto; height: 50px; width: 100%; cursor: pointer; touch-action: pan-y; }
.said { display: grid; min-width: 0; } .said .more:first-child { color: var(--text); }
.facets { display: grid; grid-template-columns: repeat(auto-fit, minmax(170px, 1fr)); gap: 6px 18px; }
.facets fieldset { border: 0; padding: 0; margin: 0; min-width: 0; } .facets legend { color: var(--soft); font-size: 11.5px; font-weight: 650; padding: 4px 0; }
.facets label { display: flex; gap: 7px; align-items: center; min-height: 26px; } .facets label small { color: var(--soft); margin-inline-start: auto; font-size: 11.5px; }
.popup:has(.help) { max-width: none; max-height: none; } .help { display: flex; flex-wrap: wrap; gap: 0 28px; } .help > div { flex: 1 1 300px; max-width: 420px; }
.popup:has(.facets) { width: min(720px, 92vw); max-width: none; }  .popup[role=dialog]:focus-visible { outline-offset: -2px; }
.sign, .sample { font-weight: 650; color: var(--soft); } .sign.bad { color: var(--bad); } .sign.warn { color: var(--warn); } .sign.plus { color: var(--good); } .sign.differs { color: var(--accent); }
.bars { display: inline-flex; flex-direction: column-reverse; width: 8px; } .bars i { height: 5px; background: var(--line); } .bars .accent { background: var(--accent); } .bars .good { background: var(--good); } .bars .warn { background: var(--warn); } .bars .bad { background: var(--bad); }
.sample { border: 1px dashed var(--line); border-radius: 5px; padding: 1px 6px; font-weight: 400; }
.roles { display: inline-grid; grid-template-columns: repeat(3, 18px); gap: 2px 4px; }
.stroke { width: 36px; height: 12px; fill: none; stroke: var(--line); } .stroke.owns { stroke: var(--owns); } .stroke.bad { stroke: var(--bad); }
.keys { display: grid; grid-template-columns: auto 1fr; gap: 4px 16px; margin: 6px 0; align-items: center; } kbd { font: 11.5px ui-monospace, Menlo, Consolas, monospace; border: 1px solid var(--surface-edge); border-bottom-width: 2px; border-radius: 5px; padding: 1px 6px; background: var(--bg); }
@media (max-width: 600px) {
  .bar ::slotted([slot=start]) { flex: 0 1 45%; min-width: 0; } .bar .field { flex: 1 1 40%; } .bar .grow { display: none; } .bar .pill { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; }
  .note.past { display: grid; grid-template-columns: minmax(0, 1fr) auto auto; gap: 3px 8px; } .note.past .what button { white-space: normal; text-align: start; } .note.past .grow { display: none; } .note.past .when { grid-area: 2 / 1 / 3 / 4; } .note.past .what { grid-area: 3 / 1 / 4 / 2; } .note.past > :last-child { grid-area: 1 / 2 / 2 / 4; justify-self: end; }
  .legend { display: none; } .timeline { grid-template-columns: minmax(0, 1fr) auto auto; } .strip { grid-area: 2 / 1 / 3 / 4; }
  .grid-head, .grid-row { grid-template-columns: minmax(0, 1fr) minmax(0, auto); } .grid-head > :nth-child(n + 3), .grid-row .num { display: none; } .grid-row.group { grid-template-columns: fit-content(70%) minmax(0, 1fr); } .grid-row.group .label { max-width: none; } .grid-row.group > :nth-child(2) { grid-column: 2; text-align: end; }
}
@media (max-width: 720px) { .outline, .panel { grid-column: 1 / 4; width: 100%; max-width: none; z-index: 5; } .bar .wide, .note .wide { display: none; } }
@media (prefers-reduced-motion: no-preference) { button { transition: background .12s; } .map.stale canvas { transition: filter .3s .7s; } }
`;

let sheet;

/** The sheet, made once for all elements. */
export function styleSheet() {
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
  }
  return sheet;
}
