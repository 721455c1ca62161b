// What is known of a name under the pointer; the codex beside the page says the same to whoever has none.
import { useEffect, useState } from "react";
import type { CodexEntry } from "./types";

type Tip = { entry: CodexEntry; left: number; top: number };
const SHOWN = 4;
const WIDTH = 300;

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** The entry whose name stands at a point of the page, and where that name is. */
function entryAt(x: number, y: number, entries: CodexEntry[]): Tip | null {
  const caret = document.caretPositionFromPoint?.(x, y);
  const node = caret?.offsetNode;
  if (!caret || !(node instanceof Text) || !node.parentElement?.closest("article > .prose")) return null;
  const names = entries.flatMap((entry) => entry.names.map((name) => ({ name, entry }))).sort((a, b) => b.name.length - a.name.length);
  for (const { name, entry } of names) {
    for (const found of node.data.matchAll(new RegExp(`(?<![\\p{L}\\p{N}])${escaped(name)}(?![\\p{L}\\p{N}])`, "gu"))) {
      if (caret.offset < found.index || caret.offset > found.index + name.length) continue;
      const range = document.createRange();
      range.setStart(node, found.index);
      range.setEnd(node, found.index + name.length);
      const box = [...range.getClientRects()].find((one) => x >= one.left && x <= one.right && y >= one.top && y <= one.bottom);
      if (box) return { entry, left: Math.max(8, Math.min(box.left, innerWidth - WIDTH)), top: box.bottom };
    }
  }
  return null;
}

export function NameTip({ entries }: { entries: CodexEntry[] }) {
  const [tip, setTip] = useState<Tip | null>(null);
  useEffect(() => {
    let frame = 0;
    const moved = (event: PointerEvent) => {
      // Whoever selects text, or touches, asks for nothing.
      if (event.pointerType === "touch" || event.buttons || (event.target as Element).closest?.(".name-tip")) return;
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => {
        const found = entryAt(event.clientX, event.clientY, entries);
        setTip((now) => (now && found && now.entry === found.entry && now.top === found.top ? now : found));
      });
    };
    const away = (event: Event) => (!(event instanceof KeyboardEvent) || event.key === "Escape") && setTip(null);
    addEventListener("pointermove", moved);
    for (const what of ["keydown", "scroll", "pointerdown"]) addEventListener(what, away, true);
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener("pointermove", moved);
      for (const what of ["keydown", "scroll", "pointerdown"]) removeEventListener(what, away, true);
    };
  }, [entries]);
  if (!tip) return null;
  return (
    <div className="name-tip" role="tooltip" style={{ left: tip.left, top: tip.top }}>
      <p className="label"><bdi>{tip.entry.name}</bdi> · {tip.entry.kind}</p>
      {tip.entry.lines.slice(0, SHOWN).map((line, number) => <p key={number} dir="auto">{line.text}</p>)}
    </div>
  );
}
