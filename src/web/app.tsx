import { useEffect } from "preact/hooks";
import { Answer } from "./panels/answer.tsx";
import { Bench } from "./panels/bench.tsx";
import { Header } from "./panels/header.tsx";
import { Help } from "./panels/late-window.tsx";
import { Alert, Notes } from "./panels/notices.tsx";
import { DroppedFailure } from "./panels/open-file.tsx";
import { Program } from "./panels/program.tsx";
import { ReloadNote } from "./panels/reload-note.tsx";
import { Run } from "./panels/run.tsx";
import { Setup } from "./panels/setup.tsx";
import { Share } from "./panels/share.tsx";
import { isDropping, isHelpShown, listen } from "./panels/shortcuts.ts";
import { followTitle } from "./panels/title.ts";
import { Views } from "./panels/views.tsx";
import { isBenchShown } from "./state/history.ts";
import { isArriving, program } from "./state/store.ts";

/** The whole page: what is asked at the left, what came out at the top, and views of it beneath. */
export function App() {
  useEffect(() => {
    const ends = [listen(), followTitle()];
    return () => {
      for (const end of ends) end();
    };
  }, []);
  return (
    <div class="page">
      <Header />
      <ReloadNote />
      <Alert />
      <div class="page-body">
        <aside class="page-side" aria-label="What is asked">
          <div class="page-scroll">
            <div class="page-setup">
              <Setup />
            </div>
            <div class="page-share">
              <Share />
            </div>
          </div>
          <Run />
        </aside>
        <main class="page-main">
          {program.value === null ? <Answer /> : <Program opened={program.value} />}
          {!isArriving.value && <Views />}
        </main>
      </div>
      <DroppedFailure />
      <Notes />
      {isHelpShown.value && <Help onClose={() => (isHelpShown.value = false)} />}
      {isBenchShown.value && <Bench />}
      {isDropping.value && (
        <div class="page-drop">
          <p>Drop it anywhere: a network, a schedule or a program</p>
        </div>
      )}
    </div>
  );
}
