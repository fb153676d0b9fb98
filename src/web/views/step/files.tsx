import { useSignal } from "@preact/signals";
import type { GivenFile } from "../../protocol.ts";
import { offerFile, say } from "../../state/actions.ts";
import { failureOf } from "../../state/client.ts";

interface FilesProps {
  readonly files: readonly {
    /** On the button. */
    readonly title: string;
    /** The same while it is made. */
    readonly busy?: string;
    readonly make: () => GivenFile | Promise<GivenFile>;
  }[];
}

/** What can be saved, a button each; one at a time. */
export function Files({ files }: FilesProps) {
  const making = useSignal<string | null>(null);
  const save = async ({ title, make }: FilesProps["files"][number]): Promise<void> => {
    making.value = title;
    try {
      await offerFile(await make());
    } catch (error) {
      say(failureOf(error).message);
    } finally {
      making.value = null;
    }
  };
  return (
    <div class="step-files">
      {files.map((file) => (
        <button key={file.title} type="button" disabled={making.value !== null} onClick={() => void save(file)}>
          {making.value === file.title ? (file.busy ?? file.title) : file.title}
        </button>
      ))}
    </div>
  );
}
