import { type Signal, useSignal } from "@preact/signals";

interface ChunkFieldProps {
  readonly chunkCount: number;
  /** Null: all of them. */
  readonly chosen: Signal<number | null>;
}

/** The number of the chunk that a view follows, and the way back to all. */
export function ChunkField({ chunkCount, chosen }: ChunkFieldProps) {
  /** What is no chunk, as it was typed. */
  const unknown = useSignal<string | null>(null);
  const choose = (chunk: number | null): void => {
    unknown.value = null;
    chosen.value = chunk;
  };
  const type = (text: string): void => {
    const chunk = Number(text);
    const isChunk = text !== "" && Number.isInteger(chunk) && chunk >= 0 && chunk < chunkCount;
    choose(isChunk ? chunk : null);
    if (!isChunk && text !== "") unknown.value = text;
  };
  return (
    <>
      <label>
        Chunk
        <input
          type="number"
          min="0"
          max={chunkCount - 1}
          placeholder="all"
          value={chosen.value ?? unknown.value ?? ""}
          aria-invalid={unknown.value !== null}
          onInput={({ currentTarget: { value } }) => type(value)}
        />
      </label>
      <button type="button" disabled={chosen.value === null && unknown.value === null} onClick={() => choose(null)}>
        All chunks
      </button>
      {unknown.value !== null && chosen.value === null && (
        <span role="status">
          There is no chunk {unknown.value}: they are 0 to {chunkCount - 1}.
        </span>
      )}
    </>
  );
}
