import type { Note, PlanDocument, Refusal } from '../core/plan-document.ts';
import type { PlanRules } from '../core/plan-rules.ts';
import type { Answer } from './cel.ts';
import type { Rule } from './compile.ts';
import { RULE_SECONDS, withinTime } from './time-limit.ts';
import { forCel, type Shown } from './view.ts';

/** What a rule has against a plan: the changes that break it, none for the plan as a whole. */
type Breach = { readonly addresses: readonly string[]; readonly why: string };

const NOTHING = { refusals: [], notes: [] };

/** Rules over plans and their changes as one function. A rollback is not asked: it must be possible at any time. */
export function planRules(rules: readonly Rule[]): PlanRules {
  if (rules.length === 0) return () => NOTHING;
  return (plan, now) => {
    if (plan.purpose !== 'apply') return NOTHING;
    const shown = plainPlan(plan);
    const breaches = rules.flatMap((rule) =>
      breachesOf(rule, plan, shown, now).map((breach) => ({ rule, breach })),
    );
    return {
      refusals: breaches
        .filter(({ rule }) => rule.severity === 'error')
        .map(({ rule, breach }) => refusalFor(rule, breach)),
      notes: breaches
        .filter(({ rule }) => rule.severity === 'warning')
        .map(({ rule, breach }) => noteFor(rule, breach)),
    };
  };
}

type PlainPlan = { readonly plan: Shown; readonly changes: readonly Shown[] };

/** A plan holds no secret: those are masked when it is made. */
function plainPlan(plan: Omit<PlanDocument, 'digest'>): PlainPlan {
  // What is undefined is absent, as in the plan's file.
  const whole: { readonly [key: string]: Shown } = JSON.parse(JSON.stringify(plan));
  const { changes } = whole;
  return { plan: forCel(whole), changes: Array.isArray(changes) ? changes.map(forCel) : [] };
}

function breachesOf(
  rule: Rule,
  { changes }: Omit<PlanDocument, 'digest'>,
  shown: PlainPlan,
  now: Date,
): readonly Breach[] {
  const judged = withinTime(() => {
    if (rule.over === 'plan') {
      const why = askRule(rule, { plan: shown.plan, now });
      return why === undefined ? [] : [{ why, addresses: [] }];
    }
    const broken = changes.flatMap(({ address, kind, verdict }, index) => {
      // What apply leaves out does no harm.
      if (verdict !== 'ok' || rule.on?.includes(kind) === false) return [];
      const why = askRule(rule, { change: shown.changes[index], plan: shown.plan, now });
      return why === undefined ? [] : [{ why, address }];
    });
    // What is said alike of several changes is said once.
    const same = Map.groupBy(broken, ({ why }) => why);
    return [...same].map(([why, all]) => ({ why, addresses: all.map(({ address }) => address) }));
  }, RULE_SECONDS);
  if (judged !== undefined) return judged.value;
  return [
    {
      why: `${rule.message} (not known: it took more than ${RULE_SECONDS} seconds and was stopped)`,
      addresses: [],
    },
  ];
}

/** Why a rule is broken; undefined where it is kept, or is not about this. */
function askRule({ when, require, message }: Rule, variables: object): string | undefined {
  const asked = when?.ask(variables);
  if (asked !== undefined && 'failed' in asked) {
    return asked.missing === undefined ? unanswered(message, 'when', asked) : undefined;
  }
  if (asked?.holds === false) return undefined;
  const answer = require?.ask(variables);
  if (answer === undefined) return undefined;
  if ('failed' in answer) return unanswered(message, 'require', answer);
  return answer.holds ? undefined : message;
}

function unanswered(
  message: string,
  member: string,
  { failed }: Extract<Answer, { failed: string }>,
): string {
  return `${message} (${member} could not be asked: ${failed})`;
}

/** Addresses that are named; of more, the first. */
const MOST_NAMED = 3;

function tell({ name, source }: Rule, { addresses, why }: Breach): string {
  const rest = addresses.length - MOST_NAMED;
  const named = (rest > 1 ? addresses.slice(0, MOST_NAMED) : addresses).join(', ');
  const about = addresses.length === 0 ? '' : `: ${named}${rest > 1 ? ` and ${rest} others` : ''}`;
  return `rules.${name} (${source})${about}: ${why}`;
}

function refusalFor(rule: Rule, breach: Breach): Refusal {
  return {
    guard: 'rule',
    message: tell(rule, breach),
    until: null,
    advice: `Change what rules.${rule.name} is about, or plan a part with --target.`,
  };
}

function noteFor(rule: Rule, breach: Breach): Note {
  return { severity: 'warning', address: null, message: tell(rule, breach) };
}
