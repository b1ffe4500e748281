import { CallsheetError } from '../../core/errors.ts';
import { isList, isObject, type JsonObject } from '../../core/value.ts';
import { BILLING_COLUMNS, renderBillingText, totalOf } from '../../render/read/billing.ts';
import { valueAt } from '../../render/read/figures.ts';
import type { CommonFlags, Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { withPlatform } from '../platform-session.ts';
import { organizationId } from '../read/scope.ts';
import { type ReadFormat, show } from '../read/show.ts';
import { parseDay } from '../read/times.ts';

export type BillingFlags = CommonFlags & {
  readonly start?: string;
  readonly end?: string;
  readonly reseller?: readonly string[];
  readonly organization?: readonly string[];
  readonly format: ReadFormat;
};

/** `callsheet billing`: voice minutes and agents of every organization. */
export async function billing(flags: BillingFlags, context: Context): Promise<ExitCode> {
  const { terminal } = context;
  const asked = daysOf(flags, context.now());
  return withPlatform(flags, context, async ({ client, settings }) => {
    const organizations = (flags.organization ?? []).map((given) =>
      organizationId(given, settings?.organizations ?? {}),
    );
    const query = {
      start_date: asked.start,
      end_date: asked.end,
      ...(flags.reseller === undefined ? {} : { reseller_ids: flags.reseller }),
      ...(organizations.length === 0 ? {} : { organization_ids: organizations }),
    };
    const answer = await client.call({ operation: 'getBillingReport', query });
    const report = isObject(answer) ? answer : {};
    if (!isList(report.data)) {
      throw new CallsheetError('api', 'getBillingReport answered without a `data` list');
    }
    const rows = report.data.filter((row) => isObject(row));
    const start = isoDay(valueAt(report, 'period.start_date')) ?? asked.start;
    const end = isoDay(valueAt(report, 'period.end_date')) ?? asked.end;
    const period = { start_date: start, end_date: end };
    show(
      flags.format,
      {
        text: () => renderBillingText({ start, end, rows }, terminal.render),
        json: () => ({
          format: 'callsheet-billing',
          version: 1,
          period,
          totals: totalOf(rows),
          data: rows,
        }),
        csv: () => ({
          columns: BILLING_COLUMNS,
          records: rows.map((row): JsonObject => ({ ...period, ...row })),
        }),
      },
      terminal,
    );
    return EXIT.done;
  });
}

type Days = { readonly start: string; readonly end: string };

/** The days of the flags; without any, the last month that is over, as a bill has it. */
function daysOf(flags: BillingFlags, now: Date): Days {
  if (flags.start === undefined && flags.end !== undefined) {
    throw new CallsheetError('usage', '--end is given without --start', {
      hint: 'Give both, --start alone for the time until today, or neither for the last whole month.',
    });
  }
  if (flags.start === undefined) return lastMonth(now);
  const start = parseDay('--start', flags.start);
  const end = flags.end === undefined ? dayOf(now) : parseDay('--end', flags.end);
  if (start > end) {
    throw new CallsheetError('usage', `--start ${start} is later than the last day, ${end}`, {
      hint: 'Swap the two.',
    });
  }
  return { start, end };
}

function lastMonth(now: Date): Days {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  return {
    start: dayOf(new Date(Date.UTC(year, month - 1, 1))),
    end: dayOf(new Date(Date.UTC(year, month, 0))),
  };
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}

/** The platform answers with `MM/DD/YYYY` although it is asked with ISO 8601 (Billing report). */
function isoDay(value: unknown): string | undefined {
  const [, month, day, year] = /^(\d\d)\/(\d\d)\/(\d{4})$/.exec(String(value)) ?? [];
  return year === undefined ? undefined : `${year}-${month}-${day}`;
}
