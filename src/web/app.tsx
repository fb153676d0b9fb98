import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import { showView, synthesize } from "./state/actions.ts";
import { busy, made, network, trouble, words } from "./state/store.ts";
import { VIEWS } from "./state/words.ts";
import { VIEW_ENTRIES, type ViewProps } from "./views/registry.ts";

/** The whole page. */
export function App() {
  const View = useSignal<FunctionComponent<ViewProps> | null>(null);
  const { view } = words.value;
  useEffect(() => {
    void VIEW_ENTRIES[view].load().then((module) => {
      View.value = module.View;
    });
  }, [view, View]);
  const Shown = View.value;
  return (
    <main>
      <button type="button" onClick={() => void synthesize()}>
        Synthesize
      </button>
      {VIEWS.map((name) => (
        <button key={name} type="button" onClick={() => showView(name)}>
          {VIEW_ENTRIES[name].title}
        </button>
      ))}
      <p>{busy.value?.progress?.what}</p>
      <p>{trouble.value?.failure.message}</p>
      <p>{made.value?.schedule.answer}</p>
      {network.value !== null && Shown !== null && <Shown network={network.value} made={made.value} />}
    </main>
  );
}
