import { heatColour } from "../../picture/scales.ts";
import { COLOURS, PICTURE_STYLE } from "./svg.ts";

const STEPS = 7;

/** Returns black or white, whichever is read better on a colour. */
function inkOn(colour: string): string {
  const [r, g, b] = [1, 3, 5].map((i) => {
    const share = Number.parseInt(colour.slice(i, i + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  const light = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return (light + 0.05) ** 2 > 0.0525 ? "#0b0f16" : "#ffffff";
}

/** The least harm stands out from none. */
const LEAST_HEAT = 0.28;

const steps = (isDark: boolean): string =>
  Array.from({ length: STEPS }, (_, i) => {
    const colour = heatColour(i === 0 ? 0.05 : LEAST_HEAT + ((1 - LEAST_HEAT) * (i - 1)) / (STEPS - 2), isDark);
    return `--h${i}:${colour};--t${i}:${inkOn(colour)}`;
  }).join(";");

const each = Array.from({ length: STEPS }, (_, i) => i);

/** The style of the page of an atlas. */
export const ATLAS_STYLE = [
  `:root${COLOURS.replace("ROOT", ":root")}`,
  `:root{${steps(false)}}@media screen and (prefers-color-scheme:dark){:root{${steps(true)}}}`,
  PICTURE_STYLE,
  "*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}",
  "main{max-width:1760px;margin:0 auto;padding:28px 24px 64px}[hidden]{display:none!important}",
  ".brand{margin:0;color:var(--soft);font-size:14px;letter-spacing:.08em;text-transform:uppercase}",
  "h1{margin:2px 0 10px;font-size:30px;line-height:1.2;font-weight:650;overflow-wrap:anywhere}h2{margin:0 0 8px;font-size:20px;font-weight:650}.tools h2,.panel h2{margin:0 0 4px;font-size:17px;overflow-wrap:anywhere}",
  ".answer{font-size:18px;max-width:62em;margin:0 0 6px;overflow-wrap:anywhere}header{margin-bottom:16px}p{max-width:62em}.note{color:var(--soft);font-size:14px;margin:4px 0}",
  "section{margin-top:32px;padding-top:20px;border-top:1px solid var(--rule)}",
  ".bar{position:sticky;top:0;z-index:2;display:flex;flex-wrap:wrap;gap:10px 20px;align-items:end;background:var(--paper);padding:10px 0;border-bottom:1px solid var(--rule)}",
  "fieldset{border:0;margin:0;padding:0;min-width:0}legend,.find label{padding:0;font-size:13px;color:var(--soft)}.pick{display:flex;flex-wrap:wrap;gap:6px}.pick label{position:relative;display:block}",
  ".pick input{position:absolute;opacity:0;inset:0;margin:0;width:100%;height:100%;cursor:pointer}.pick span{display:block;border:1px solid var(--soft);border-radius:8px;padding:7px 12px;line-height:1.3}",
  ".pick input:checked+span{background:var(--ink);color:var(--paper);border-color:var(--ink)}.pick input:focus-visible+span,:focus-visible{outline:3px solid var(--npu-edge);outline-offset:2px}",
  ".find{display:flex;flex-direction:column;flex:1 1 220px;max-width:420px}.find input{font:inherit;color:inherit;background:var(--paper);border:1px solid var(--soft);border-radius:8px;padding:6px 10px;width:100%}",
  ".look{display:grid;grid-template-columns:minmax(0,1fr);gap:24px;margin-top:20px}",
  "@media(min-width:1000px){.look{grid-template-columns:minmax(0,1fr) 340px}.panel{position:sticky;top:96px;align-self:start}}@media(min-width:1500px){.look{grid-template-columns:minmax(0,1fr) 420px}}",
  ".panel{border:1px solid var(--rule);border-radius:10px;background:var(--panel);padding:14px 16px;min-height:180px}.panel dl{display:grid;grid-template-columns:auto 1fr;gap:2px 14px;margin:8px 0 0}.panel dt{color:var(--soft);font-size:14px}.panel dd{margin:0;overflow-wrap:anywhere;font-variant-numeric:tabular-nums}.panel p{margin:6px 0 0}",
  ".picture{margin:0 0 20px}.scroll{overflow:auto;max-height:88vh;border:1px solid var(--rule);border-radius:10px;background:var(--paper)}.scroll svg{display:block;margin:0 auto;width:calc(100%*var(--zoom,1));height:auto;max-width:calc(1.6*var(--wide)*var(--zoom,1));max-height:calc(84vh*var(--zoom,1));touch-action:manipulation}",
  "figcaption{color:var(--soft);font-size:14px;margin-top:6px}.tools{display:flex;gap:6px;align-items:center;justify-content:space-between;margin-bottom:6px}.tools h2{margin:0}.tools div{display:flex;gap:6px}",
  "button{font:inherit;color:inherit;background:var(--paper);border:1px solid var(--soft);border-radius:8px;cursor:pointer}.tools button{min-width:36px;height:36px;padding:0 8px}td button,th button{border:0;padding:0;background:none;color:var(--npu-edge);text-decoration:underline;text-underline-offset:3px;text-align:left;font-weight:600;overflow-wrap:anywhere}",
  ".harm .w{fill:none;stroke-width:var(--line);stroke-linecap:round}.harm .n{stroke:var(--soft);stroke-width:1}.harm text{pointer-events:none}.harm .b{fill:var(--panel);stroke-width:1.5}.harm [data-m]{cursor:pointer}",
  ...each.map(
    (i) =>
      `.harm .w.h${i},.harm .b.h${i}{stroke:var(--h${i})}.harm .n.h${i}{fill:var(--h${i})}.harm .n.h${i}+text{fill:var(--t${i})}`,
  ),
  ...each.slice(3).map((i) => `.harm .w.h${i}{stroke-width:calc(var(--line)*${1 + (i - 2) * 0.25})}`),
  ".harm .w.hx,.harm .b.hx{stroke:var(--ink);stroke-dasharray:6 3;stroke-width:calc(var(--line)*1.6)}.harm .n.hx{fill:var(--ink)}.harm .n.hx+text{fill:var(--paper)}",
  ".harm .w.ho,.harm .b.ho{stroke:var(--soft);stroke-dasharray:1.5 3}.harm .n.ho{fill:var(--paper);stroke-dasharray:2 2}.harm .w.hq,.harm .b.hq{stroke:var(--rule)}.harm .n.hq{fill:var(--panel);stroke:var(--rule)}",
  ".harm.lit [data-m]:not(.lit){opacity:.16}.harm .now{stroke:var(--accent)!important;stroke-width:calc(var(--line) + 3px)!important;stroke-dasharray:none;stroke-opacity:1;opacity:1!important}.harm .w.lit{stroke-opacity:1}",
  ".legend{display:flex;flex-wrap:wrap;gap:4px 16px;margin:0 0 10px;padding:0;list-style:none;font-size:14px}.legend li{display:flex;align-items:center;gap:7px}.legend i{width:22px;height:14px;border-radius:4px;border:1px solid var(--soft);display:inline-block}",
  ...each.map((i) => `i.h${i}{background:var(--h${i})}`),
  "i.hx{background:var(--ink)}i.ho{border-style:dotted}i.hq{background:var(--panel);border-color:var(--rule)}",
  "table{border-collapse:collapse;width:100%;font-size:14px;font-variant-numeric:tabular-nums}caption{text-align:left;color:var(--soft);padding-bottom:8px}thead th{font-weight:500;color:var(--soft);vertical-align:bottom}th{text-align:left;font-weight:400}th,td{padding:6px 10px;border-bottom:1px solid var(--rule);vertical-align:top}.r{text-align:right;white-space:nowrap}.r i{margin-right:8px;width:12px;height:12px;border-radius:3px;border:1px solid var(--soft);display:inline-block}",
  "td.why{min-width:16em;max-width:34em}tr.on th,tr.on td{background:var(--panel)}a{color:var(--npu-edge)}pre{background:var(--panel);padding:12px 14px;border-radius:8px;overflow-x:auto;font-size:13px}",
  "dl.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(190px,100%),1fr));gap:10px 24px;margin:0}dl.facts dt{color:var(--soft);font-size:13px}dl.facts dd{margin:0;font-weight:600;overflow-wrap:anywhere}",
  "@media(max-width:900px){table,tbody,tr,th,td,caption{display:block}thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}tr{border:1px solid var(--rule);border-radius:10px;padding:8px 12px;margin-bottom:10px}th,td{border:0;padding:2px 0}td.r{text-align:left;white-space:normal;display:flex;justify-content:space-between;gap:12px}td[data-k]::before{content:attr(data-k);color:var(--soft)}td.why{min-width:0;max-width:none}td.why::before{display:block}}",
  "@media(max-width:999px){.panel{min-height:0}.panel:not(.rest){position:sticky;bottom:8px;z-index:1;max-height:44vh;overflow:auto;box-shadow:0 2px 14px rgb(0 0 0/.25)}}",
  "@media(max-width:600px){main{padding:18px 14px 40px}h1{font-size:24px}.answer{font-size:16px}.bar{position:static}.scroll svg{width:calc(max(100%,.55*var(--wide))*var(--zoom,1))}}",
  "@media(prefers-reduced-motion:no-preference){.harm [data-m]{transition:opacity .12s}}@media print{.bar,.tools div,.panel{display:none}.scroll{max-height:none;overflow:visible;border:0}main{max-width:none;padding:0}}",
].join("\n");
