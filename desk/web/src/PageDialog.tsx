// How the manuscript looks, and how many words somebody means to write: settings of this browser, not of the story.
import { Dialog } from "./components";
import { changePage, FONTS, usePage, type PageSettings } from "./pageSettings";

type Numbered = "size" | "width" | "daily" | "sitting";

export function PageDialog(props: { onClose: () => void }) {
  const page = usePage();
  return (
    <Dialog title="Page" onClose={props.onClose}>
      <div className="settings">
        <label className="field">
          <span>Font</span>
          <select value={page.font} onChange={(event) => changePage({ font: event.target.value as PageSettings["font"] })}>
            {Object.entries(FONTS).map(([font, name]) => <option key={font} value={font}>{name}</option>)}
          </select>
        </label>
        <NumberField name="size" label="Size" hint="percent, 60 to 250" least={60} most={250} step={10} />
        <NumberField name="width" label="Width of a line" hint="16 to 70" least={16} most={70} step={1} />
        <NumberField name="daily" label="Words a day" hint="a goal of yours, for all stories; 0 for none" least={0} most={100_000} step={100} />
        <NumberField name="sitting" label="Words in a sitting" hint="a goal of yours, for all stories; 0 for none" least={0} most={100_000} step={100} />
      </div>
      <label className="switch">
        <input type="checkbox" checked={page.quotes} onChange={(event) => changePage({ quotes: event.target.checked })} />
        <span>Typographic quotation marks, as the language has them</span>
      </label>
      <p className="hint">For this browser, and every story in it. The text itself stays as it is. For a goal the passages count that were written since, as they stand on the branch in sight of each story that was opened here; an imported book is none of them.</p>
    </Dialog>
  );
}

/** A number that holds as soon as it can be used: whoever types 120 passes 1 and 12. */
function NumberField(props: { name: Numbered; label: string; hint: string; least: number; most: number; step: number }) {
  const { name, least, most } = props;
  const change = (value: number) => value >= least && value <= most && changePage({ [name]: value });
  return (
    <label className="field">
      <span>{props.label}</span>
      <input type="number" min={least} max={most} step={props.step} defaultValue={usePage()[name]} onChange={(event) => change(Number(event.target.value))} />
      <span className="hint">{props.hint}</span>
    </label>
  );
}
