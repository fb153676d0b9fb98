import { COLOURS, PICTURE_STYLE } from "./svg.ts";

/** The style of the report: pictures' own, and the page's. */
export const HTML_STYLE = [
  `:root${COLOURS.replace("ROOT", ":root")}`,
  PICTURE_STYLE,
  "*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);line-height:1.5;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}",
  "main{max-width:1120px;margin:0 auto;padding:28px 24px 64px}",
  ".brand{margin:0;color:var(--soft);font-size:14px;letter-spacing:.08em;text-transform:uppercase}",
  "h1{margin:2px 0 10px;font-size:30px;line-height:1.2;font-weight:650;overflow-wrap:anywhere}h2{margin:0 0 6px;font-size:20px;font-weight:650}",
  ".answer{font-size:18px;max-width:62em;margin:0 0 22px}header .remark{max-width:62em;margin:0 0 22px}",
  ".figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(140px,1fr));gap:1px;margin:0;background:var(--rule);border:1px solid var(--rule);border-radius:10px;overflow:hidden}",
  ".figures>div{background:var(--paper);padding:12px}dt{color:var(--soft);font-size:13px}dd{margin:0;font-size:20px;white-space:nowrap;font-weight:600;font-variant-numeric:tabular-nums}",
  ".figures .note,.made dd{white-space:normal}.figures .note{font-size:12px;font-weight:400;color:var(--soft)}.remark{border-left:3px solid var(--accent);padding:2px 12px;margin:16px 0}",
  "section{margin-top:40px;padding-top:22px;border-top:1px solid var(--rule)}section>p{max-width:62em;margin:0 0 12px;overflow-wrap:anywhere}",
  ".picture{margin:12px 0;overflow-x:auto}.picture svg{display:block;margin:0 auto}figcaption{text-align:center;margin-top:6px}.tables{margin-top:24px}.caption,figcaption{color:var(--soft);font-size:14px}",
  ".tables{display:grid;grid-template-columns:repeat(auto-fit,minmax(320px,1fr));gap:28px}table{border-collapse:collapse;width:100%;font-size:14px;font-variant-numeric:tabular-nums}",
  "caption{text-align:left;font-weight:600;padding-bottom:6px}th{font-weight:500;color:var(--soft);text-align:left}th,td{padding:4px 8px;border-bottom:1px solid var(--rule)}.n{text-align:right}",
  ".bar{background:linear-gradient(to right,color-mix(in srgb,var(--copy) 28%,transparent) var(--share),transparent var(--share))}",
  ".made{display:grid;grid-template-columns:repeat(auto-fill,minmax(200px,1fr));gap:12px 24px;margin:0 0 14px}.made dd{font-size:16px;font-weight:500;overflow-wrap:anywhere}",
  "pre{background:var(--panel);padding:12px 14px;border-radius:8px;overflow-x:auto;font-size:13px}a{color:var(--npu-edge)}summary{cursor:pointer}",
  "@media(max-width:600px){main{padding:18px 14px 40px}h1{font-size:24px}.answer{font-size:16px}.figures{grid-template-columns:1fr 1fr}.figures>div:last-child:nth-child(odd){grid-column:1/-1}.picture svg{min-width:520px}}",
  "@media print{main{max-width:none;padding:0}section{break-inside:avoid;margin-top:20px}.data{display:none}.picture{overflow:visible}body{font-size:12px}}",
].join("\n");
