import { useEffect, useState } from "react";
import { exportOf, get } from "./api";
import { Dialog, Problem, useAttempt } from "./components";

export function ExportDialog(props: { story: string; onClose: () => void }) {
  const [formats, setFormats] = useState<{ format: string; name: string }[]>([]);
  const { problem, attempt } = useAttempt();
  useEffect(() => {
    void attempt(async () => setFormats((await get<{ export: { format: string; name: string }[] }>("/formats")).export));
  }, []);
  const save = (format: string) =>
    void attempt(async () => {
      const response = await fetch(exportOf(props.story, format));
      if (!response.ok) throw new Error(((await response.json()) as { error: string }).error);
      const name = /filename\*=UTF-8''(.+)/.exec(response.headers.get("Content-Disposition") ?? "")?.[1] ?? `story.${format}`;
      const link = document.createElement("a");
      link.href = URL.createObjectURL(await response.blob());
      link.download = decodeURIComponent(name);
      link.click();
      URL.revokeObjectURL(link.href);
    });
  return (
    <Dialog title="Export" onClose={props.onClose}>
      <p className="hint">The passages of this branch, as a book.</p>
      <Problem text={problem} />
      <ul className="formats">
        {formats.map(({ format, name }) => (
          <li key={format}>
            <button onClick={() => save(format)}>
              {name} <span className="hint">.{format}</span>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
