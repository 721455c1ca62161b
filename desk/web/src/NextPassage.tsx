// What happens next: the work in hand, or the choice of a plan.
import { useEffect, useRef, useState } from "react";
import { layAside, openEditor, useUnsavedText } from "./unsavedText";
import { useKeys } from "./shortcuts";
import type { Live } from "./useStory";
import { PendingWork } from "./PendingWork";
import { get, send } from "./api";
import { ChangedMeanwhile, Elapsed, Problem, TakeOut, useAttempt, Writing } from "./components";
import { count, isSame, stage, wordsOf } from "./format";
import type { Ask, Settings, StoryView } from "./types";

/** What shows the plans, where they are out of sight, before it chooses among them. */
const CHOICES = [..."123456789eans"];

export function NextPassage(props: Props & { alone: boolean; onMachine: () => void }) {
  const { alone, view } = props;
  const { job } = props.live;
  const heading = useRef<HTMLHeadingElement>(null);
  const [plans, setPlans] = useState(false);
  const [seen, setSeen] = useState(false);
  const still = alone && !plans;
  const chooses = view.opened && job.revision >= 0 && !job.busy;
  useEffect(() => {
    // The button that was pressed may be gone; whoever uses the keyboard goes on from here.
    if (job.kind !== "rework" && (document.activeElement === document.body || !document.activeElement)) heading.current?.focus({ preventScroll: true });
  }, [job.busy, view.head]);
  useEffect(() => setPlans(false), [alone, job.busy]);
  useEffect(() => setSeen(false), [job.error, job.busy]);
  useKeys(!alone || !chooses ? {} : plans ? { escape: () => setPlans(false) } : Object.fromEntries(CHOICES.map((key) => [key, () => setPlans(true)])));
  return (
    <section className={`next ${job.busy ? "at-work" : ""}`} aria-labelledby="next">
      <h2 id="next" className={still ? "sr" : undefined} tabIndex={-1} ref={heading}>
        {job.busy ? (AT_WORK[job.kind] ?? "Being written") : question(view)}
      </h2>
      {!job.busy && !seen && (
        <Problem text={job.error} onClose={() => setSeen(true)}>
          {job.error.includes("Model and endpoint") && <button className="quiet" onClick={props.onMachine}>Model and endpoint</button>}
        </Problem>
      )}
      {job.note && !job.busy && <p className="hint">{job.note}</p>}
      {view.mode === "fiction" && !job.busy && !alone && <Reach to={question(view)} />}
      {job.busy && <><Busy {...props} /><Queued plans={job.queue} {...props} /></>}
      {job.revision >= 0 && !job.busy && !view.opened && <Again {...props} />}
      {chooses && <Waiting {...props} />}
      {chooses && !still && <Choices {...props} />}
      {/* In its place whatever begins or ends: somebody may be typing in it. */}
      {job.revision >= 0 && view.opened && <OwnPlan {...props} />}
      {chooses && !still && <More {...props} />}
      {chooses && alone && <button className="quiet" aria-expanded={plans} onClick={() => setPlans(!plans)}>{plans ? "The page alone" : question(view)}</button>}
    </section>
  );
}

/** On a phone the choices stand below the passage: whoever reads, or reads back, comes to them with one press. */
function Reach({ to }: { to: string }) {
  const [far, setFar] = useState(false);
  useEffect(() => {
    const watch = new IntersectionObserver((seen) => setFar(!seen.at(-1)!.isIntersecting));
    watch.observe(document.getElementById("next")!);
    return () => watch.disconnect();
  }, []);
  const go = () => {
    const heading = document.getElementById("next");
    heading?.scrollIntoView();
    heading?.focus({ preventScroll: true });
  };
  return far && <button className="reach" onClick={go}>{to}</button>;
}

const AT_WORK: Record<string, string> = { import: "Being read", edit: "Being rewritten", replan: "Being planned", rework: "Being put in other words" };

/** A story to play begins with the question who plays it. */
const question = (view: StoryView) => (view.mode !== "fiction" ? "What happens next?" : view.opened && !view.step ? "Who are you?" : "What do you do?");

type Props = { live: Live; view: StoryView; ask: Ask };

function Busy({ live: { job }, ask }: Props) {
  const words = wordsOf(job.draft);
  const bytes = job.progress?.total ? job.progress : job.replay;
  return (
    <div className="busy">
      {job.plan && job.kind !== "replan" && <p className="plan-now" dir="auto">{job.plan}</p>}
      <p className="stage">
        {stage(job)}
        {job.attempt > 1 && <> · the model failed, asking again ({job.attempt})</>}
        {words > 0 && job.stage === "write" && <> · {count(words, "word")}</>}
        <Elapsed since={job.since} />
      </p>
      {job.founding && <p className="plan-now" dir="auto">{job.founding}</p>}
      {bytes && <progress aria-label="Progress" max={bytes.total} value={bytes.done} />}
      {job.asked > 1 && <p className="hint">{job.done} of {count(job.asked, "passage")} written.</p>}
      <button className="stop" onClick={() => void ask("POST", "/stop")}>
        {job.stopping ? "Stop at once" : "Stop"} <kbd>Esc</kbd>
      </button>
      {job.stage === "write" && !job.stopping && <button className="quiet drop" onClick={() => void ask("POST", "/stop?drop=true")}>Stop and drop the words</button>}
      <p className="hint">
        {job.stopping ? "It ends as soon as what is there is saved." : job.stage === "write" ? "Stopping keeps the whole sentences that are there." : ""}
      </p>
    </div>
  );
}

/** A plan of one's own: what happens next, or, while that is written, what comes after it. */
function OwnPlan({ live: { job }, view, ask }: Props) {
  const own = useUnsavedText(`${view.id}/own//`, view.head);
  const queues = job.busy && job.kind === "write";
  const words = queues ? AFTER_IT : view.mode !== "fiction" ? NOVEL : view.step ? PLAY : PLAYER;
  const may = !job.busy || queues;
  const send = () => {
    if (!own.text?.trim() || !may) return;
    void (queues ? ask("POST", "/queue", { plan: own.text }) : ask("POST", "/write", { plan: own.text })).then((done) => done && own.drop());
  };
  useKeys(may ? { w: () => own.open() } : {});
  if (own.text === null) return may && <button className="own" onClick={() => own.open()}>{words.open} <kbd>W</kbd></button>;
  return (
    <Writing label={words.label} field={own} rows={3} atEnd back=".own" placeholder={words.example} onSubmit={send}>
      <div className="row">
        <button className="primary" disabled={!may || !own.text.trim()} onClick={send}>{words.send}</button>
        <button className="quiet" onClick={own.discard}>Cancel</button>
        {!queues && <span className="hint">Ctrl and Enter</span>}
      </div>
    </Writing>
  );
}

const AFTER_IT = { open: "Plan what comes after it", label: "Your plan for the passage after it", example: "", send: "Queue it" };
const NOVEL = { open: "Write my own", label: "Your plan for the next passage", example: "What the next passage shall do.", send: "Write from it" };
const PLAY = { open: "Do something else", label: "What do you do?", example: "I bribe the guard.", send: "Do it" };
const PLAYER = { open: "Be somebody else", label: "Who are you?", example: "I am the cook of this ship.", send: "Begin" };

/** The plans that wait, in their order; one that is taken out is a plan in hand again. */
function Queued({ plans, view, ask }: Omit<Props, "live"> & { plans: string[] }) {
  if (!plans.length) return null;
  const takeOut = (plan: string, number: number) => void ask("DELETE", `/queue?number=${number}`, { plan }).then((done) => done && layAside(`${view.id}/own//`, plan, view.head));
  return (
    <ol className="queue" aria-label="Plans that wait">
      {plans.map((plan, at) => (
        <li className="row" key={at}>
          <span dir="auto">{plan}</span>
          <TakeOut label={`Take out plan ${at + 1} of those that wait`} back="#next" onClick={() => takeOut(plan, at + 1)} />
        </li>
      ))}
    </ol>
  );
}

function Again({ live: { job }, ask }: Props) {
  return (
    <div className="row">
      <button className="primary" onClick={() => void ask("POST", "/write", {})}>
        {job.error || job.note ? "Try again" : "Write the first passage"}
      </button>
    </div>
  );
}

/** What waits for a word, on the page alone, too: it may be a plan that was typed there. */
function Waiting({ live, view, ask }: Props) {
  const interrupted = live.job.draft && live.job.step > 0;
  useKeys(interrupted ? { k: () => void ask("POST", "/keep") } : {});
  return <PendingWork live={live} view={view} ask={ask} onWrite={() => void ask("POST", "/write", {})} />;
}

function Choices({ live, view, ask }: Props) {
  const { job } = live;
  const at = useRef(1);
  const who = view.mode === "fiction" && !view.step;
  useEffect(() => void (at.current = 1), [view.head]);

  const write = (body: object, drop?: () => void) => void ask("POST", "/write", body).then((done) => done && drop?.());
  const choose = (number: number) => view.plans[number - 1] !== undefined && write({ number });
  const keyOf = (number: number) => `${view.id}/plan${number}/${view.root}/${view.step}`;
  const edit = (number: number) => view.plans[number - 1] !== undefined && openEditor(keyOf(number), view.plans[number - 1]!, view.head);
  const savePlan = (number: number, text: string, drop: () => void) =>
    void ask("PUT", "/plans", { plans: view.plans.map((plan, index) => (index + 1 === number ? text : plan)), seen: view.plans }).then((done) => done && drop());
  const numbers = Object.fromEntries([1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => [String(number), () => choose(number)]));
  useKeys({
    ...numbers,
    e: () => edit(at.current),
  });

  return (
    <>
      {job.queue.length > 0 && (
        <div className="offer">
          <p>These plans wait to be written:</p>
          <Queued plans={job.queue} view={view} ask={ask} />
          <div className="row">
            <button className="primary" onClick={() => write({ steps: 1 })}>Write them</button>
          </div>
        </div>
      )}
      {who && <p className="hint">Choose whom you play; the story begins with your choice.</p>}
      {view.plans.length === 0 && (
        <p className="hint">{view.status === "finished" ? "The story has ended. It goes on from a plan of your own." : "There are no plans yet: ask for some, or write your own."}</p>
      )}
      <ol className="plans" aria-label="Plans for the next passage">
        {view.plans.map((plan, index) => (
          <Plan key={index} number={index + 1} plan={plan} ready={job.ready.includes(plan)} draft={keyOf(index + 1)} head={view.head} onChoose={() => choose(index + 1)} onWrite={(text, drop) => write({ number: index + 1, plan: text }, drop)} onSave={(text, drop) => savePlan(index + 1, text, drop)} onAt={() => (at.current = index + 1)} />
        ))}
      </ol>
    </>
  );
}

/** What else can be done where a plan is to be chosen. */
function More({ view, ask }: Props) {
  const [many, setMany] = useState(3);
  const retry = () => view.step > 0 && void ask("POST", "/retry", {});
  const letWrite = () => void ask("POST", "/write", { steps: many });
  useKeys({ a: retry, n: () => void ask("POST", "/replan", {}), s: letWrite });
  return (
    <>
      <div className="tools" role="group" aria-label="More">
        <button disabled={!view.step} onClick={retry}>Another take <kbd>A</kbd></button>
        <button onClick={() => void ask("POST", "/replan", {})}>New plans <kbd>N</kbd></button>
        <button onClick={() => void ask("POST", "/undo")}>Undo <kbd>Z</kbd></button>
        <button onClick={() => void ask("POST", "/redo")}>Redo <kbd>Y</kbd></button>
      </div>
      <Takes view={view} ask={ask} />
      <div className="row auto">
        <button onClick={letWrite}>Let it write <kbd>S</kbd></button>
        <label>
          <input type="number" min={1} max={100} value={many} aria-label="How many passages" onChange={(event) => setMany(Math.min(100, Math.max(1, Number(event.target.value) || 1)))} />
          <span>{many === 1 ? "passage" : "passages"} by itself</span>
        </label>
      </div>
      <WriteAhead />
    </>
  );
}

/** Offer to write ahead where that costs no money, and let it be ended wherever it goes on. */
function WriteAhead() {
  const [machine, setMachine] = useState<Settings | null>(null);
  const { problem, attempt } = useAttempt();
  useEffect(() => void get<Settings>("/settings").then(setMachine, () => undefined), []);
  const ahead = Number(machine?.values.ahead ?? 0);
  const embedded = machine?.in_force && !machine.in_force.model.value && !machine.in_force.base_url.value;
  if (!embedded && !ahead) return null;
  const change = (on: boolean) => {
    const values = { ahead: on ? 1 : 0 };
    setMachine({ ...machine!, values: { ...machine!.values, ...values } });
    void attempt(async () => setMachine(await send<Settings>("PUT", "/settings", { values }))).then((done) => done || setMachine(machine));
  };
  return (
    <>
      <label className="switch">
        <input type="checkbox" checked={ahead > 0} onChange={(event) => change(event.target.checked)} />
        <span>Write the passage of {ahead > 1 ? `the first ${ahead} plans` : "the first plan"} while I read</span>
      </label>
      <p className="hint">One that is ready is there as soon as its plan is chosen; {embedded ? "the machine works meanwhile." : "each costs what a passage costs, chosen or not."} It holds for every story.</p>
      <Problem text={problem} />
    </>
  );
}

function Plan(props: { number: number; plan: string; ready: boolean; draft: string; head: string; onChoose: () => void; onWrite: (text: string, drop: () => void) => void; onSave: (text: string, drop: () => void) => void; onAt: () => void }) {
  const { number, plan } = props;
  const field = useUnsavedText(props.draft, props.head);
  const text = field.text;
  if (text !== null) {
    const write = () => text.trim() && props.onWrite(text, field.drop);
    // Written from, it takes no other one's place.
    const changed = ![field.base, text].some((known) => isSame(known, plan));
    return (
      <li className="plan">
        <Writing label={`Plan ${number}`} field={field} rows={3} atEnd back={`#plan-${number}`} onSubmit={write}>
          {changed && <ChangedMeanwhile what={`Plan ${number}`} now={plan} onKeep={() => field.rebase(props.head, plan)} onTake={field.discard} />}
          <div className="row">
            <button className="primary" disabled={!text.trim()} onClick={write}>Write from it</button>
            <button disabled={changed || !text.trim()} onClick={() => props.onSave(text, field.drop)}>Only save it</button>
            <button className="quiet" onClick={field.discard}>Cancel</button>
          </div>
        </Writing>
      </li>
    );
  }
  return (
    <li className="plan">
      <button id={`plan-${number}`} className="card" onClick={props.onChoose} onFocus={props.onAt} onMouseEnter={props.onAt}>
        <span className="numeral" aria-hidden="true">{number}</span>
        <span className="sr">{`Plan ${number}: `}</span>
        <span dir="auto">{plan}</span>
        {props.ready && <span className="ready" title="Its passage is written: chosen, it is there at once">ready</span>}
      </button>
      <button className="quiet edit" aria-label={`Edit plan ${number}`} onClick={() => field.open(plan)}>Edit</button>
    </li>
  );
}

/** The takes of the newest passage: undo goes along the branch, and another take stands beside it. */
function Takes({ view, ask }: { view: StoryView; ask: Ask }) {
  const here = view.takes.indexOf(view.head);
  if (view.takes.length < 2) return null;
  const go = (to: number) => void ask("POST", "/goto", { at: view.takes[to] });
  return (
    <div className="row takes" role="group" aria-label="Takes of this passage">
      <span className="hint">Take {here + 1} of {view.takes.length}</span>
      <button className="quiet" disabled={here < 1} onClick={() => go(here - 1)} aria-label="Back to the take before">Before</button>
      <button className="quiet" disabled={here >= view.takes.length - 1} onClick={() => go(here + 1)} aria-label="The next take">Next</button>
    </div>
  );
}
