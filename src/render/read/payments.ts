import type { JsonObject } from '../../core/value.ts';
import { type Line, paint, type RenderOptions, span, wrap } from '../terminal.ts';
import { sanitiseLine } from '../untrusted.ts';
import { type Fact, factLines } from './facts.ts';
import { formatDecimal, formatFigure } from './figures.ts';
import { noteLines } from './note.ts';

/** Whether and how an agent may take payments, as the readiness answer has it (Payment readiness). */
export function renderPaymentsText(
  label: string,
  readiness: JsonObject,
  { width, color }: RenderOptions,
): string {
  const isArmed = readiness.payment_tool_enabled === true;
  const facts: readonly Fact[] = [
    { name: 'feature', text: readiness.feature_locked === true ? 'locked' : 'available' },
    { name: 'account', text: formatFigure(readiness.account_status, 'words') },
    { name: 'charges', text: readiness.charges_enabled === true ? 'enabled' : 'not enabled' },
    {
      name: 'text messages',
      text: readiness.twilio_configured === true ? 'configured' : 'not configured',
    },
    { name: 'single charge', text: `at most ${formatCents(readiness.max_single_charge_cents)}` },
    { name: 'one call', text: `at most ${formatCents(readiness.max_per_call_cents)}` },
    {
      name: 'links per call',
      text: `at most ${formatFigure(readiness.max_attempts_per_call, 'number')}`,
    },
    { name: 'returns to', text: formatFigure(readiness.success_url) },
  ];
  const lines: Line[] = [
    ...noteLines(`Payments of ${sanitiseLine(label)}`, width),
    ...wrap(verdictOf(readiness, isArmed), width, 0),
    [],
    ...factLines(facts, width, 2),
  ];
  if (!isArmed) lines.push([], [span('The limits are those that would apply.', 'dim')]);
  return paint(lines, color);
}

function verdictOf(readiness: JsonObject, isArmed: boolean): Line {
  if (isArmed) return [span('The payment tool is on.', 'added')];
  if (readiness.can_enable === true) {
    return [span('The payment tool is off; it can be switched on.')];
  }
  const lacks = obstacles(readiness);
  const why = lacks.length === 0 ? '' : `: ${lacks.join(', ')}`;
  return [span(`The payment tool is off and cannot be switched on${why}.`, 'warning')];
}

/** What stands between an agent and taking payments. */
function obstacles(readiness: JsonObject): readonly string[] {
  return [
    ...(readiness.feature_locked === true ? ['the feature is locked'] : []),
    ...(readiness.can_accept_payments === false
      ? ['the organization cannot accept payments yet']
      : []),
    ...(readiness.twilio_configured === false
      ? ['the agent lacks credentials for text messages']
      : []),
  ];
}

/** `50,000 cents (500.00)`: the platform names no currency. */
function formatCents(value: JsonObject[string] | undefined): string {
  const text = formatFigure(value, 'number');
  return typeof value === 'number' ? `${text} cents (${formatDecimal(value / 100, 2)})` : text;
}
