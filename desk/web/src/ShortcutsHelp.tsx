import { useState } from "react";
import { keysAreOff, setKeysOff } from "./shortcuts";
import { Dialog } from "./components";

export function ShortcutsHelp(props: { play: boolean; onClose: () => void }) {
  const [off, setOff] = useState(keysAreOff);
  const keys: [string, string][] = [
    ["1 2 3", props.play ? "do that" : "choose that plan, and write from it"],
    ["E", "edit the plan, then write from it"],
    ["W", props.play ? "say what you do" : "write your own plan"],
    ["A", "another take of the newest passage, from the same plan"],
    ["N", "new plans"],
    ["S", "let it write some passages by itself"],
    ["Esc", "stop, and keep the whole sentences that are there"],
    ["Z", "undo: nothing is ever lost"],
    ["Y", "redo"],
    ["C", "the contents: chapters, and what happens in them"],
    ["F", "the page alone, with your own plan (W) and the others at a key, and back"],
    ["M", "the map of all branches"],
    ["/", "search by meaning, replace letter by letter"],
    ["?", "these keys"],
  ];
  return (
    <Dialog title="Keys" onClose={props.onClose}>
      <dl className="keys">
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>{key.split(" ").map((one) => <kbd key={one}>{one}</kbd>)}</dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <p>While an editor with unsaved text stands open, letters are typed there; Esc in it closes it, and its text is kept. A passage is edited by a double click, or by the number in its margin, where everything else that can be done with it is found too. A name under the pointer tells what is known of it. Of text that is selected a toolbar offers other words: longer, shorter, told anew; or the story goes on from there.</p>
      <label className="switch">
        <input
          type="checkbox"
          checked={!off}
          onChange={(event) => {
            setKeysOff(!event.target.checked);
            setOff(!event.target.checked);
          }}
        />
        <span>Single keys work</span>
      </label>
    </Dialog>
  );
}
