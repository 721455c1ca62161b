// The settings, drawn from what the server says they are: a new field of the library appears by itself.
import { useEffect, useRef, useState } from "react";
import { get, send } from "./api";
import { mountEditor, openAgain, useUnsavedText } from "./unsavedText";
import { FromTabs, Thrown } from "./PendingWork";
import { ChangedMeanwhile, Dialog, Problem, useAttempt } from "./components";
import { isSame } from "./format";
import type { Hidden, Place, SettingField, Settings, Source, StoryView, Trial } from "./types";

const ROLES = ["writer", "memory", "planner", "simulator", "judge"];
function useSettings(path: string, machine: boolean) {
  const [kept, setKept] = useState<Settings | null>(null);
  const [saved, setSaved] = useState(false);
  const { problem, attempt } = useAttempt();
  // A form that is closed, or that the server refused, is found again as it was left.
  const draft = useUnsavedText(`form${path}`);
  const typed = fromJson(draft.text);
  useEffect(() => mountEditor(draft.key), [draft.key]);
  useEffect(() => {
    void attempt(async () => setKept(await get<Settings>(path)));
  }, [path]);
  /** Store what is typed, but for fields that are `hidden` and so sent by nobody. */
  const save = (more: object = {}, first: () => Promise<unknown> = async () => {}, hidden: string[] = []) =>
    attempt(async () => {
      const known = (kept?.fields ?? []).map((field) => field.name);
      const changed = Object.entries(typed).filter(([name, value]) => known.includes(name) && value !== kept?.values[name]);
      const now = await get<Settings>(path);
      const text = (value: unknown) => JSON.stringify(value ?? "");
      const other = changed.filter(([name, value]) => ![kept?.values[name], value].map(text).includes(text(now.values[name])));
      setKept(now);
      if (other.length) throw new Error(other.map(([name]) => changedMeanwhile(now.fields.find((field) => field.name === name)?.label ?? name, now.values[name])).join(" "));
      await first();
      setKept(await send<Settings>("PUT", path, { values: Object.fromEntries(changed), ...more }));
      const left = Object.entries(typed).filter(([name]) => hidden.includes(name));
      draft.drop(left.length ? JSON.stringify(Object.fromEntries(left)) : "");
      setSaved(true);
    });
  const put = (changes: Record<string, unknown>) => {
    setSaved(false);
    draft.change(JSON.stringify({ ...typed, ...changes }));
  };
  const set = (name: string, value: unknown) => put({ [name]: value });
  const values = { ...kept?.values, ...typed };
  const fields = (kept?.fields ?? []).filter((field) => field.machine === machine);
  /** Take the place of what is typed, which can be taken back. */
  const replace = (changes: Record<string, unknown>) => {
    draft.discard();
    put(changes);
  };
  return { kept, fields, values, typed, sentBefore: fromJson(draft.saved), sending: draft.sent, put, replace, set, save, problem, saved, left: { owner: draft.key, forget: draft.kept ? draft.discard : null } };
}

/** What is said where another page has saved something else since a form was opened; saved once more, one's own takes its place. */
const changedMeanwhile = (what: string, now: unknown) => `${what} was changed meanwhile, and reads now: ${String(now || "nothing")} Save again to put yours in its place.`;

function fromJson(text: string | null): Record<string, unknown> {
  try {
    return JSON.parse(text || "{}") as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** What to say of a form that was typed into earlier, or in another tab, and not saved. */
function Left({ owner, forget }: { owner: string; forget: (() => void) | null }) {
  return (
    <>
      {forget && (
        <p className="hint">
          What you typed earlier stands here, not saved yet. <button type="button" className="quiet" onClick={forget}>Forget it</button>
        </p>
      )}
      <FromTabs owner={owner} />
      <Thrown owner={owner} onBack={({ key }) => openAgain(key)} />
    </>
  );
}

/** What a story keeps from its reader, and so the form until it is asked. */
const HIDDEN = ["truth", "clues"];
const WHAT_CHANGED: Record<string, string> = { premise: "The premise", characters: "The characters", outline: "The outline" };

export function StorySettings(props: { view: StoryView; busy: boolean; onClose: () => void }) {
  const { view } = props;
  const form = useSettings(`/stories/${view.id}/settings`, false);
  const [machine, setMachine] = useState(false);
  const [hidden, setHidden] = useState<Hidden | null>(null);
  const { problem, setProblem, attempt } = useAttempt();
  const reveal = () => attempt(async () => setHidden(await get<Hidden>(`/stories/${view.id}/hidden`)));
  // Whoever typed in it has seen it.
  const typedIn = view.opened && [...HIDDEN, ...(view.mode === "novel" ? [] : ["outline"])].some((name) => name in form.typed);
  useEffect(() => void (typedIn && reveal()), [typedIn]);
  const premise = String(form.values.premise ?? view.premise);
  // What stood there when somebody began to type: another tab may have saved something else since.
  const was = (form.typed.was ?? {}) as Record<string, string>;
  const begin = (name: string, text: string, before: string) => form.put({ [name]: text, was: { ...was, [name]: was[name] ?? before } });
  const lists = { characters: view.characters ?? [], outline: view.outline ?? [], clues: hidden?.clues ?? [] };
  const list = (name: keyof typeof lists) => String(form.values[name] ?? lists[name].join("\n"));
  const lines = (text: string) => text.split("\n").map((line) => line.trim()).filter(Boolean);
  const stands: Record<string, string> = { premise: view.premise, characters: lists.characters.join("\n"), outline: lists.outline.join("\n") };
  const isMine = (name: string) => name in form.sentBefore && isSame(String(form.sentBefore[name]), stands[name]!);
  const meanwhile = Object.keys(stands).filter((name) => name in form.typed && name in was && was[name] !== stands[name] && !isMine(name) && lines(String(form.typed[name])).join("\n") !== lines(stands[name]!).join("\n"));
  const truth = String(form.values.truth ?? hidden?.truth ?? "");
  // Whoever plays is not shown what waits.
  const plotted = view.mode === "novel" || hidden !== null;
  const save = async () => {
    const brief: Record<string, unknown> = {};
    if (premise.trim() !== view.premise) brief.premise = premise;
    for (const name of ["characters", ...(plotted ? ["outline"] : []), ...(hidden ? ["clues"] : [])] as (keyof typeof lists)[])
      if (lines(list(name)).join("\n") !== lists[name].join("\n")) brief[name] = lines(list(name));
    if (hidden && truth.trim() !== hidden.truth) brief.truth = truth;
    // Whoever types on while it is saved has seen what is saved.
    form.sending(JSON.stringify({ premise, characters: lines(list("characters")).join("\n"), outline: lines(list("outline")).join("\n") }));
    if (hidden && ("truth" in brief || "clues" in brief)) {
      const now = await get<Hidden>(`/stories/${view.id}/hidden`).catch(() => hidden);
      const other = [
        ...("truth" in brief && ![hidden.truth, truth.trim()].includes(now.truth) ? [changedMeanwhile("What lies behind the story", now.truth)] : []),
        ...("clues" in brief && ![lists.clues.join("\n"), lines(list("clues")).join("\n")].includes(now.clues.join("\n")) ? [changedMeanwhile("The clues to it", now.clues.join("; "))] : []),
      ];
      setHidden(now);
      if (other.length) return setProblem(other.join(" "));
    }
    const told = async () => Object.keys(brief).length > 0 && (await send("PUT", `/stories/${view.id}/brief`, brief));
    if (await form.save({}, told, [...(hidden ? [] : HIDDEN), ...(plotted ? [] : ["outline"])])) props.onClose();
  };
  if (machine) return <MachineSettings onClose={props.onClose} />;
  return (
    <Dialog title="Settings of this story" onClose={props.onClose}>
      <form
        className="settings"
        onSubmit={(event) => {
          event.preventDefault();
          if (!meanwhile.length) void save();
        }}
      >
        <p className="hint">{view.opened || props.busy ? "They hold from the next passage on." : "Nothing is written yet: the story begins from them."}</p>
        <Left {...form.left} />
        <label className="field long">
          <span>Premise</span>
          <textarea rows={3} dir="auto" value={premise} onChange={(event) => begin("premise", event.target.value, stands.premise!)} />
        </label>
        {view.opened && (
          <>
            <label className="field long">
              <span>Characters, one a line</span>
              <textarea rows={4} dir="auto" value={list("characters")} onChange={(event) => begin("characters", event.target.value, stands.characters!)} />
            </label>
            {plotted && (
              <label className="field long">
                <span>Outline, one turn a line</span>
                <textarea rows={4} dir="auto" value={list("outline")} onChange={(event) => begin("outline", event.target.value, stands.outline!)} />
                <span className="hint">[under way] or [done] before a turn says where it stands; without that it is to come.</span>
              </label>
            )}
            {hidden ? (
              <>
                <label className="field long">
                  <span>What lies behind the story</span>
                  <textarea rows={3} dir="auto" value={truth} onChange={(event) => form.set("truth", event.target.value)} />
                </label>
                <label className="field long">
                  <span>Clues to it, one a line</span>
                  <textarea rows={4} dir="auto" value={list("clues")} onChange={(event) => form.set("clues", event.target.value)} />
                  <span className="hint">[done] before a clue says that a reader has been given it.</span>
                </label>
              </>
            ) : (
              <button type="button" className="quiet" onClick={() => void reveal()}>Show what is kept from the reader</button>
            )}
            <Problem text={problem} />
          </>
        )}
        {form.fields.map((field) => (
          <Input key={field.name} field={field} value={form.values[field.name]} set={form.set} />
        ))}
        {meanwhile.map((name) => (
          <ChangedMeanwhile
            key={name}
            what={WHAT_CHANGED[name]!}
            now={stands[name]!}
            onKeep={() => form.put({ was: { ...was, [name]: stands[name]! } })}
            onTake={() => form.put({ [name]: stands[name]!, was: { ...was, [name]: stands[name]! } })}
          />
        ))}
        <Problem text={form.problem} />
        <div className="row">
          <button className="primary" disabled={meanwhile.length > 0}>Save</button>
          <button type="button" className="quiet" onClick={() => setMachine(true)}>Model and endpoint</button>
        </div>
      </form>
    </Dialog>
  );
}

export function MachineSettings(props: { onClose: () => void }) {
  const form = useSettings("/settings", true);
  const [key, setKey] = useState("");
  const [unfolded, setUnfolded] = useState(false);
  const [listed, setListed] = useState<Pick<Trial, "models" | "known">>(NOTHING);
  const where = form.kept?.key;
  const model = String(form.values.model ?? "");
  const endpoint = String(form.values.base_url ?? "");
  // A key goes to no other address than the one it was typed for, and comes back with it.
  const keys = useRef(new Map<string, string>());
  useEffect(() => setKey((now) => now || (keys.current.get(endpoint) ?? "")), [endpoint]);
  const choose = (address: string) => {
    if (address === endpoint) return;
    keys.current.set(endpoint, key);
    setKey("");
    setListed(NOTHING);
    const byHand = form.typed.model || (form.typed.base_url && !form.kept?.places?.some((place) => place.base_url === endpoint));
    (byHand ? form.replace : form.put)({ base_url: address, model: "" });
  };
  const [address, named] = ["base_url", "model"].map((name) => form.fields.find((field) => field.name === name));
  const rest = form.fields.filter((field) => field !== address && field !== named);
  const known = where === "kept" ? "A key is kept on this machine." : where === "environment" ? "A key comes from the environment (OPENAI_API_KEY)." : "No key is set.";
  return (
    <Dialog title="Model and endpoint" onClose={props.onClose}>
      <form
        className="settings"
        onSubmit={(event) => {
          event.preventDefault();
          void form.save(key ? { key } : {}).then((done) => done && setKey(""));
        }}
      >
        <p className="hint">{form.kept?.in_force && inForce(form.kept.in_force)} These hold for every story.</p>
        <Left {...form.left} />
        <Where places={form.kept?.places ?? []} endpoint={endpoint} onChoose={choose} />
        {address && <Input field={address} value={form.values.base_url} set={(name, value) => (form.set(name, value), setListed(NOTHING))} />}
        <label className="field">
          <span>Key of the endpoint</span>
          <input type="password" autoComplete="off" value={key} placeholder={where ? "unchanged" : ""} onChange={(event) => setKey(event.target.value)} />
          <span className="hint">{known} It stays with the server and is never shown again.</span>
        </label>
        {named && <Input field={named} value={form.values.model} set={form.set} list={listed.models} known={listed.known[model]} />}
        <Try key={`${model} ${endpoint}`} asked={{ model, base_url: endpoint, key }} onAnswer={setListed} />
        {/* A field that is refused is shown. */}
        <details className="long" open={unfolded || rest.some(({ name }) => name in form.typed)} onToggle={(event) => setUnfolded(event.currentTarget.open)} onInvalidCapture={(event) => (event.currentTarget.open = true)}>
          <summary>More settings</summary>
          <div className="settings">
            {rest.map((one) => <Input key={one.name} field={one} value={form.values[one.name]} set={form.set} />)}
          </div>
        </details>
        <Problem text={form.problem} />
        <div className="row">
          <button className="primary">Save</button>
          {where === "kept" && <button type="button" className="quiet" onClick={() => void form.save({ key: "" })}>Forget the key</button>}
          <span role="status" className="hint">{form.saved ? "Saved." : ""}</span>
        </div>
      </form>
    </Dialog>
  );
}

/** Where the model runs, by name: that fills in the address. */
function Where(props: { places: Place[]; endpoint: string; onChoose: (address: string) => void }) {
  const [other, setOther] = useState(false);
  const place = other ? undefined : props.places.find((one) => one.base_url === props.endpoint.replace(/\/+$/, ""));
  const choose = (name: string) => {
    const chosen = props.places.find((one) => one.name === name);
    setOther(!chosen);
    if (chosen) props.onChoose(chosen.base_url);
  };
  return (
    <label className="field long">
      <span>Where the model runs</span>
      <select aria-describedby="about-place" value={place?.name ?? OTHER} onChange={(event) => choose(event.target.value)}>
        {props.places.map((one) => <option key={one.name}>{one.name}</option>)}
        <option>{OTHER}</option>
      </select>
      <span className="hint" id="about-place">{place?.about ?? "Any server that speaks as OpenAI’s API does; type its address below."}</span>
    </label>
  );
}

const NOTHING = { models: [], known: {} };
const OTHER = "Any other";

/** What the endpoint says, asked by the server: the page itself speaks to nobody else. */
function Try(props: { asked: { model: string; base_url: string; key: string }; onAnswer: (found: Trial) => void }) {
  const [asking, setAsking] = useState(false);
  const [trial, setTrial] = useState<Trial | null>(null);
  const { problem, setProblem, attempt } = useAttempt();
  const answer = useRef<HTMLDivElement>(null);
  useEffect(() => void ((trial || problem) && answer.current?.scrollIntoView({ block: "nearest" })), [trial, problem]);
  const ask = async (path: string) => {
    setAsking(true);
    setTrial(null);
    setProblem("");
    await attempt(async () => {
      const found = await send<Trial>("POST", path, props.asked);
      setTrial(found);
      props.onAnswer(found);
    });
    setAsking(false);
  };
  return (
    <div className="field long">
      <div className="row">
        <button type="button" disabled={asking} onClick={() => void ask("/settings/test")}>Test</button>
        <button type="button" className="quiet" disabled={asking} onClick={() => void ask("/settings/models")}>List its models</button>
      </div>
      <div ref={answer} className="answer">
        <p role="status" className={trial?.works ? "works" : "hint"}>{asking ? "Asking" : trial?.works ? trial.said : ""}</p>
        <Problem text={problem || (trial && !trial.works ? trial.said : "")} />
      </div>
    </div>
  );
}

/** What writes now and where that comes from: a field that is empty here may be set elsewhere. */
function inForce({ model, base_url: endpoint }: NonNullable<Settings["in_force"]>) {
  const from = (source: Source) => ({ here: "as set here", environment: `from the environment, ${source.variable}`, code: "given by the program that runs the desk", default: "" })[source.source];
  if (!model.value && !endpoint.value) return "Now the embedded model writes on this machine, and nothing is sent anywhere.";
  const writes = model.value ? `Now ${model.value} writes (${from(model)})` : "No model is named yet";
  const where = endpoint.value ? `at ${endpoint.value} (${from(endpoint)})` : "";
  return `${writes}${where && ` ${where}`}.${model.source === "environment" || endpoint.source === "environment" ? " What is set here takes its place." : ""}`;
}

const rangeOf = ({ minimum, maximum, unit }: SettingField) => (minimum === null || maximum === null ? "" : `; ${minimum} to ${maximum.toLocaleString("en-GB")} ${unit}`.trimEnd());

export function Input(props: { field: SettingField; value: unknown; set: (name: string, value: unknown) => void; list?: string[]; known?: string | undefined }) {
  const { field, set } = props;
  const value = props.value ?? "";
  const name = field.label;
  const about = <span className="hint" id={`about-${field.name}`}>{field.description}{rangeOf(field)}.{props.known && <strong className="known"> {props.known}</strong>}</span>;
  const common = { "aria-describedby": `about-${field.name}`, name: field.name };
  if (field.kind === "roles") {
    const models = (props.value ?? {}) as Record<string, string>;
    const change = (role: string, model: string) => {
      const next = { ...models, [role]: model };
      if (!model) delete next[role];
      set(field.name, Object.keys(next).length ? next : null);
    };
    return (
      <fieldset className="field long">
        <legend>{name}</legend>
        {ROLES.map((role) => (
          <label key={role} className="role">
            <span>{role}</span>
            <input value={models[role] ?? ""} onChange={(event) => change(role, event.target.value)} />
          </label>
        ))}
        {about}
      </fieldset>
    );
  }
  const number = (text: string) => (text === "" ? null : Number(text));
  return (
    <label className={`field ${field.kind}`}>
      <span>{name}</span>
      {field.kind === "choice" ? (
        <select {...common} value={String(value || field.default)} onChange={(event) => set(field.name, event.target.value)}>
          {field.choices.map((choice) => <option key={choice}>{choice}</option>)}
        </select>
      ) : field.kind === "boolean" ? (
        <input {...common} type="checkbox" checked={Boolean(props.value ?? field.default)} onChange={(event) => set(field.name, event.target.checked)} />
      ) : field.kind === "long" ? (
        <textarea {...common} rows={2} dir="auto" value={String(value)} onChange={(event) => set(field.name, event.target.value)} />
      ) : field.kind === "text" ? (
        <>
          <input {...common} value={String(value)} placeholder={String(field.default ?? "")} list={props.list && `list-${field.name}`} onChange={(event) => set(field.name, event.target.value)} />
          {props.list && <datalist id={`list-${field.name}`}>{props.list.map((one) => <option key={one} value={one} />)}</datalist>}
        </>
      ) : (
        <input {...common} type="number" min={field.minimum ?? undefined} max={field.maximum ?? undefined} step={field.kind === "integer" ? 1 : "any"} value={String(value)} placeholder={String(field.default ?? "")} onChange={(event) => set(field.name, number(event.target.value))} />
      )}
      {about}
    </label>
  );
}
