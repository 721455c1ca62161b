// What happens next: the work in hand, or the choice of a plan.
import { useEffect, useRef, useState } from "react";
import type { View } from "./api";
import { openDraft, useDraft } from "./drafts";
import { useKeys } from "./keys";
import type { Live } from "./live";
import { Offers } from "./Offers";
import { Elapsed, Writing } from "./parts";
import type { Ask } from "./StoryPage";
import { count, stage, wordsOf } from "./words";

export function Next(props: { live: Live; view: View; ask: Ask }) {
  const { doing } = props.live;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // The button that was pressed may be gone; whoever uses the keyboard goes on from here.
    if (document.activeElement === document.body || !document.activeElement) heading.current?.focus({ preventScroll: true });
  }, [doing.busy, props.view.head]);
  return (
    <section className="next" aria-labelledby="next">
      <h2 id="next" tabIndex={-1} ref={heading}>
        {doing.busy ? (AT_WORK[doing.kind] ?? "Being written") : question(props.view)}
      </h2>
      {doing.error && !doing.busy && <p className="problem" role="alert" dir="auto">{doing.error}</p>}
      {doing.note && !doing.busy && <p className="hint">{doing.note}</p>}
      {doing.busy ? <Busy {...props} /> : props.view.opened ? <Choices {...props} /> : <Again {...props} />}
    </section>
  );
}

const AT_WORK: Record<string, string> = { import: "Being read", edit: "Being rewritten", replan: "Being planned" };

/** A story to play begins with the question who plays it. */
const question = (view: View) => (view.mode !== "fiction" ? "What happens next?" : view.opened && !view.step ? "Who are you?" : "What do you do?");

type Props = { live: Live; view: View; ask: Ask };

function Busy({ live: { doing }, ask }: Props) {
  const words = wordsOf(doing.draft);
  const bytes = doing.progress?.total ? doing.progress : doing.replay;
  return (
    <div className="busy">
      {doing.plan && doing.kind !== "replan" && <p className="plan-now" dir="auto">{doing.plan}</p>}
      <p className="stage">
        {stage(doing)}
        {words > 0 && doing.stage === "write" && <> · {count(words, "word")}</>}
        <Elapsed since={doing.since} />
      </p>
      {bytes && <progress aria-label="Progress" max={bytes.total} value={bytes.done} />}
      {doing.asked > 1 && <p className="hint">{doing.done} of {count(doing.asked, "passage")} written.</p>}
      <button className="stop" onClick={() => void ask("POST", "/stop")}>
        {doing.stopping ? "Stop at once" : "Stop"} <kbd>Esc</kbd>
      </button>
      <p className="hint">
        {doing.stopping ? "It ends as soon as what is there is saved." : doing.stage === "write" ? "Stopping keeps the whole sentences that are there." : ""}
      </p>
    </div>
  );
}

function Again({ live: { doing }, ask }: Props) {
  return (
    <div className="row">
      <button className="primary" onClick={() => void ask("POST", "/write", {})}>
        {doing.error || doing.note ? "Try again" : "Write the first passage"}
      </button>
    </div>
  );
}

function Choices({ live, view, ask }: Props) {
  const { doing } = live;
  const own = useDraft(`${view.id}/own//`, view.head);
  const [many, setMany] = useState(3);
  const at = useRef(1);
  const play = view.mode === "fiction";
  const who = play && !view.step;
  const interrupted = doing.draft && doing.step > 0;
  useEffect(() => void (at.current = 1), [view.head]);

  const write = (body: object, drop?: () => void) => void ask("POST", "/write", body).then((done) => done && drop?.());
  const choose = (number: number) => view.plans[number - 1] !== undefined && write({ number });
  const keyOf = (number: number) => `${view.id}/plan${number}/${view.root}/${view.step}`;
  const edit = (number: number) => view.plans[number - 1] !== undefined && openDraft(keyOf(number), view.plans[number - 1]!, view.head);
  const savePlan = (number: number, text: string, drop: () => void) =>
    void ask("PUT", "/plans", { plans: view.plans.map((plan, index) => (index + 1 === number ? text : plan)) }).then((done) => done && drop());
  const retry = () => view.step > 0 && void ask("POST", "/retry", {});
  const numbers = Object.fromEntries([1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => [String(number), () => choose(number)]));
  useKeys({
    ...numbers,
    e: () => edit(at.current),
    w: () => own.open(),
    a: retry,
    n: () => void ask("POST", "/replan", {}),
    s: () => write({ steps: many }),
    ...(interrupted ? { k: () => void ask("POST", "/keep") } : {}),
  });

  return (
    <>
      <Offers live={live} view={view} ask={ask} onWrite={() => write({})} />
      {who && <p className="hint">Choose whom you play; the story begins with your choice.</p>}
      {view.plans.length === 0 && (
        <p className="hint">{view.status === "finished" ? "The story has ended. It goes on from a plan of your own." : "There are no plans yet: ask for some, or write your own."}</p>
      )}
      <ol className="plans" aria-label="Plans for the next passage">
        {view.plans.map((plan, index) => (
          <Plan key={index} number={index + 1} plan={plan} draft={keyOf(index + 1)} head={view.head} onChoose={() => choose(index + 1)} onWrite={(text, drop) => write({ number: index + 1, plan: text }, drop)} onSave={(text, drop) => savePlan(index + 1, text, drop)} onAt={() => (at.current = index + 1)} />
        ))}
      </ol>
      {own.text === null ? (
        <button className="own" onClick={() => own.open()}>
          {who ? "Be somebody else" : play ? "Do something else" : "Write my own"} <kbd>W</kbd>
        </button>
      ) : (
        <Writing label={who ? "Who are you?" : play ? "What do you do?" : "Your plan for the next passage"} field={own} rows={3} atEnd back=".own" placeholder={who ? "I am the cook of this ship." : play ? "I bribe the guard." : "What the next passage shall do."} onSubmit={() => own.text?.trim() && write({ plan: own.text }, own.drop)}>
          <div className="row">
            <button className="primary" disabled={!own.text.trim()} onClick={() => write({ plan: own.text }, own.drop)}>{who ? "Begin" : play ? "Do it" : "Write from it"}</button>
            <button className="quiet" onClick={own.drop}>Cancel</button>
            <span className="hint">Ctrl and Enter</span>
          </div>
        </Writing>
      )}
      <div className="tools" role="group" aria-label="More">
        <button disabled={!view.step} onClick={retry}>Another take <kbd>A</kbd></button>
        <button onClick={() => void ask("POST", "/replan", {})}>New plans <kbd>N</kbd></button>
        <button onClick={() => void ask("POST", "/undo")}>Undo <kbd>Z</kbd></button>
        <button onClick={() => void ask("POST", "/redo")}>Redo <kbd>Y</kbd></button>
      </div>
      <Takes view={view} ask={ask} />
      <div className="row auto">
        <button onClick={() => write({ steps: many })}>Let it write <kbd>S</kbd></button>
        <label>
          <input type="number" min={1} max={100} value={many} aria-label="How many passages" onChange={(event) => setMany(Math.min(100, Math.max(1, Number(event.target.value) || 1)))} />
          <span>{many === 1 ? "passage" : "passages"} by itself</span>
        </label>
      </div>
    </>
  );
}

function Plan(props: { number: number; plan: string; draft: string; head: string; onChoose: () => void; onWrite: (text: string, drop: () => void) => void; onSave: (text: string, drop: () => void) => void; onAt: () => void }) {
  const { number, plan } = props;
  const field = useDraft(props.draft, props.head);
  const text = field.text;
  if (text !== null) {
    const write = () => text.trim() && props.onWrite(text, field.drop);
    return (
      <li className="plan">
        <Writing label={`Plan ${number}`} field={field} rows={3} atEnd back={`#plan-${number}`} onSubmit={write}>
          <div className="row">
            <button className="primary" disabled={!text.trim()} onClick={write}>Write from it</button>
            <button disabled={!text.trim()} onClick={() => props.onSave(text, field.drop)}>Only save it</button>
            <button className="quiet" onClick={field.drop}>Cancel</button>
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
      </button>
      <button className="quiet edit" aria-label={`Edit plan ${number}`} onClick={() => field.open(plan)}>Edit</button>
    </li>
  );
}

/** The takes of the newest passage: undo goes along the branch, and another take stands beside it. */
function Takes({ view, ask }: { view: View; ask: Ask }) {
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
