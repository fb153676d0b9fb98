import { render } from "preact";
import { callOptionsByFlags } from "../request/option-table.ts";
import { App } from "./app.tsx";
import { followFlags } from "./parts/flags.ts";
import { followPrinting } from "./parts/printing.ts";
import { followScheme } from "./parts/scheme.ts";
import { showVisibleTexts } from "./parts/visible-texts.ts";
import { begin } from "./state/begin.ts";
import { missingParts, sayMissing } from "./unsupported.ts";
import "./style/base.css";
import "./style/controls.css";
import "./style/page.css";
import "./style/print.css";

callOptionsByFlags();
followScheme();
followPrinting();
followFlags();
showVisibleTexts();
const place = document.getElementById("app") as HTMLElement;
const missing = missingParts();
if (missing.length > 0) sayMissing(missing, place);
else {
  void begin();
  // a task of its own, so that the worker starts and input is heard meanwhile
  setTimeout(() => {
    place.replaceChildren();
    render(<App />, place);
  });
}
