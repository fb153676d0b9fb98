import { render } from "preact";
import { App } from "./app.tsx";
import { begin } from "./state/begin.ts";
import "./style/base.css";
import "./style/controls.css";

render(<App />, document.getElementById("app") as HTMLElement);
void begin();
