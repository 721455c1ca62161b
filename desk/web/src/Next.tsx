// What happens next: the work in hand, or the choice of a plan.
import { useEffect, useRef, useState } from "react";
import type { View } from "./api";
import { useKeys } from "./keys";
import type { Live } from "./live";
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
        {doing.busy ? "Being written" : props.view.mode === "fiction" ? "What do you do?" : "What happens next?"}
      </h2>
      {doing.error && !doing.busy && <p className="problem" role="alert" dir="auto">{doing.error}</p>}
      {doing.note && !doing.busy && <p className="hint">{doing.note}</p>}
      {doing.busy ? <Busy {...props} /> : props.view.opened ? <Choices {...props} /> : <Again {...props} />}
    </section>
  );
}

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

function Choices({ live: { doing }, view, ask }: Props) {
  const [own, setOwn] = useState<string | null>(null);
  const [edited, setEdited] = useState<{ number: number; text: string } | null>(null);
  const [many, setMany] = useState(3);
  const at = useRef(1);
  const play = view.mode === "fiction";
  const interrupted = doing.draft && doing.step > 0;
  useEffect(() => {
    setEdited(null);
    at.current = 1;
  }, [view.head]);

  const write = (body: object) => void ask("POST", "/write", body).then((done) => done && (setOwn(null), setEdited(null)));
  const choose = (number: number) => view.plans[number - 1] !== undefined && write({ number });
  const edit = (number: number) => view.plans[number - 1] !== undefined && setEdited({ number, text: view.plans[number - 1]! });
  const savePlan = () => {
    if (!edited) return;
    const plans = view.plans.map((plan, index) => (index + 1 === edited.number ? edited.text : plan));
    void ask("PUT", "/plans", { plans }).then((done) => done && setEdited(null));
  };
  const retry = () => view.step > 0 && void ask("POST", "/retry", {});
  const numbers = Object.fromEntries([1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => [String(number), () => choose(number)]));
  useKeys({
    ...numbers,
    e: () => edit(at.current),
    w: () => setOwn((now) => now ?? ""),
    a: retry,
    n: () => void ask("POST", "/replan", {}),
    s: () => write({ steps: many }),
    ...(interrupted ? { k: () => void ask("POST", "/keep") } : {}),
  });

  return (
    <>
      {view.pending_replay && (
        <div className="offer">
          <p>
            An edit of passage {view.pending_replay.step} was interrupted: {view.pending_replay.done} of {count(view.pending_replay.total, "passage")} are in place.
          </p>
          <div className="row">
            <button className="primary" onClick={() => void ask("POST", "/replay")}>Go on with it</button>
            <button className="quiet" onClick={() => void ask("DELETE", "/replay")}>Forget it</button>
          </div>
        </div>
      )}
      {interrupted && (
        <div className="offer">
          <p>The writing of passage {doing.step} was interrupted. What is there stands on the page.</p>
          <div className="row">
            <button className="primary" onClick={() => void ask("POST", "/keep")}>Keep these words <kbd>K</kbd></button>
            <button onClick={() => write({})}>Write it anew</button>
            <button className="quiet" onClick={() => void ask("POST", "/drop")}>Forget them</button>
          </div>
        </div>
      )}
      {!interrupted && view.waiting_plan && (
        <div className="offer">
          <p className="plan-now" dir="auto">{view.waiting_plan}</p>
          <div className="row">
            <button className="primary" onClick={() => write({})}>Write it</button>
            <span className="hint">This plan is chosen and waits. Another choice takes its place.</span>
          </div>
        </div>
      )}
      {view.plans.length === 0 && (
        <p className="hint">{view.status === "finished" ? "The story has ended. It goes on from a plan of your own." : "There are no plans yet: ask for some, or write your own."}</p>
      )}
      <ol className="plans" aria-label="Plans for the next passage">
        {view.plans.map((plan, index) => {
          const number = index + 1;
          return (
            <li key={index} className="plan">
              {edited?.number === number ? (
                <Writing label={`Plan ${number}`} value={edited.text} rows={3} focus onChange={(text) => setEdited({ number, text })} onSubmit={() => write({ number, plan: edited.text })} onCancel={() => setEdited(null)}>
                  <div className="row">
                    <button className="primary" disabled={!edited.text.trim()} onClick={() => write({ number, plan: edited.text })}>Write from it</button>
                    <button disabled={!edited.text.trim()} onClick={savePlan}>Only save it</button>
                    <button className="quiet" onClick={() => setEdited(null)}>Cancel</button>
                  </div>
                </Writing>
              ) : (
                <>
                  <button className="card" onClick={() => choose(number)} onFocus={() => (at.current = number)} onMouseEnter={() => (at.current = number)}>
                    <span className="numeral" aria-hidden="true">{number}</span>
                    <span className="sr">{`Plan ${number}: `}</span>
                    <span dir="auto">{plan}</span>
                  </button>
                  <button className="quiet edit" aria-label={`Edit plan ${number}`} onClick={() => edit(number)}>Edit</button>
                </>
              )}
            </li>
          );
        })}
      </ol>
      {own === null ? (
        <button className="own" onClick={() => setOwn("")}>
          {play ? "Do something else" : "Write my own"} <kbd>W</kbd>
        </button>
      ) : (
        <Writing label={play ? "What do you do?" : "Your plan for the next passage"} value={own} rows={3} focus placeholder={play ? "I bribe the guard." : "What the next passage shall do."} onChange={setOwn} onSubmit={() => own.trim() && write({ plan: own })} onCancel={() => setOwn(null)}>
          <div className="row">
            <button className="primary" disabled={!own.trim()} onClick={() => write({ plan: own })}>{play ? "Do it" : "Write from it"}</button>
            <button className="quiet" onClick={() => setOwn(null)}>Cancel</button>
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
