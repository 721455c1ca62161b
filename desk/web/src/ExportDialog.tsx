import { useEffect, useState } from "react";
import { exportOf, get } from "./api";
import { usePage } from "./pageSettings";
import { Dialog, Problem, useAttempt } from "./components";

type Format = { format: string; name: string; suffix: string };

export function ExportDialog(props: { story: string; opened: boolean; onClose: () => void }) {
  const [formats, setFormats] = useState<Format[]>([]);
  // As the page shows them, unless somebody wants the book otherwise.
  const [quotes, setQuotes] = useState(usePage().quotes);
  const { problem, attempt } = useAttempt();
  useEffect(() => {
    void attempt(async () => setFormats((await get<{ export: Format[] }>("/formats")).export));
  }, []);
  const save = (format: string) =>
    void attempt(async () => {
      const response = await fetch(exportOf(props.story, format, quotes));
      if (!response.ok) throw new Error(((await response.json()) as { error: string }).error);
      const name = /filename\*=UTF-8''(.+)/.exec(response.headers.get("Content-Disposition") ?? "")?.[1] ?? `story.${format}`;
      const link = document.createElement("a");
      link.href = URL.createObjectURL(await response.blob());
      link.download = decodeURIComponent(name);
      link.click();
      URL.revokeObjectURL(link.href);
    });
  if (!props.opened) {
    return (
      <Dialog title="Export" onClose={props.onClose}>
        <p className="hint">Nothing of this story is written yet. It can be saved as a book when its first passage is there.</p>
      </Dialog>
    );
  }
  return (
    <Dialog title="Export" onClose={props.onClose}>
      <p className="hint">The passages of this branch, as a book. To play, those of all branches: whoever reads chooses among the plans that were written.</p>
      <Problem text={problem} />
      <label className="switch">
        <input type="checkbox" checked={quotes} onChange={(event) => setQuotes(event.target.checked)} />
        <span>Typographic quotation marks, as the language has them</span>
      </label>
      <ul className="formats">
        {formats.map(({ format, name, suffix }) => (
          <li key={format}>
            <button onClick={() => save(format)}>
              {name} <span className="hint">{suffix}</span>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
