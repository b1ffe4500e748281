import { CallsheetError } from '../../core/errors.ts';
import { dataOf } from '../../kinds/answer.ts';
import { renderMetricsBlockText, renderMetricsText } from '../../render/read/metrics.ts';
import type { MetricsBlock } from '../../render/read/metrics-block-names.ts';
import { BLOCKS, metricsColumns, metricsRecords } from '../../render/read/metrics-blocks.ts';
import type { CommonFlags, Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { type PlatformSession, withPlatform } from '../platform-session.ts';
import { organizationId } from '../read/scope.ts';
import { type ReadFormat, show } from '../read/show.ts';
import { checkOrder, parseMoment } from '../read/times.ts';

export type MetricsFlags = CommonFlags & {
  readonly since?: string;
  readonly until?: string;
  readonly start?: string;
  readonly end?: string;
  readonly organization?: string;
  readonly reseller?: string;
  readonly block?: MetricsBlock;
  readonly format: ReadFormat;
};

/** Days that are looked at where no time is given, today included. */
const DEFAULT_DAYS = 30;

/** `callsheet metrics`: what agents did in a span of time. */
export async function metrics(flags: MetricsFlags, context: Context): Promise<ExitCode> {
  const { block, format } = flags;
  const { terminal } = context;
  if (format === 'csv' && block === undefined) {
    throw new CallsheetError('usage', 'CSV holds one table, and no block is chosen', {
      hint: `Choose one with --block: ${Object.keys(BLOCKS).join(', ')}.`,
    });
  }
  const { start, end } = spanOf(flags, context.now());
  return withPlatform(flags, context, async (session) => {
    const scope = scopeOf(flags, session);
    const query = { startDate: start.toISOString(), endDate: end.toISOString(), ...scope.query };
    const answer = await session.client.call({ operation: 'getMetrics', query });
    const data = dataOf(answer);
    const view = { start: query.startDate, end: query.endDate, of: scope.title, data };
    show(
      format,
      {
        text: () =>
          block === undefined
            ? renderMetricsText(view, terminal.render)
            : renderMetricsBlockText(view, block, terminal.render),
        json: () => {
          const member = block === undefined ? undefined : BLOCKS[block].member;
          return {
            format: 'callsheet-metrics',
            version: 1,
            start: view.start,
            end: view.end,
            organization_id: scope.query.organizationId ?? null,
            reseller_id: scope.query.resellerId ?? null,
            data: member === undefined ? data : { [member]: data[member] ?? null },
          };
        },
        csv: () => ({
          columns: metricsColumns(block ?? 'totals'),
          records: metricsRecords(data, block ?? 'totals'),
        }),
      },
      terminal,
    );
    return EXIT.done;
  });
}

type Span = { readonly start: Date; readonly end: Date };

/** The time of the flags; without any, the last days up to now, of which the first is whole. */
function spanOf(flags: MetricsFlags, now: Date): Span {
  const from = oneOf(['--since', flags.since], ['--start', flags.start]);
  const to = oneOf(['--until', flags.until], ['--end', flags.end]);
  const end = to === undefined ? now : parseMoment(...to, now, 'end');
  const first = new Date(end.getTime() - (DEFAULT_DAYS - 1) * 86_400_000);
  const start =
    from === undefined
      ? new Date(`${first.toISOString().slice(0, 10)}T00:00:00.000Z`)
      : parseMoment(...from, now, 'start');
  checkOrder(start, end);
  return { start, end };
}

type Given = readonly [flag: string, value: string | undefined];

/** Two flags that mean the same: the one that was given. */
function oneOf(a: Given, b: Given): readonly [string, string] | undefined {
  if (a[1] !== undefined && b[1] !== undefined) {
    throw new CallsheetError('usage', `${a[0]} and ${b[0]} mean the same`, {
      hint: 'Give one of them.',
    });
  }
  const [flag, value] = a[1] === undefined ? b : a;
  return value === undefined ? undefined : [flag, value];
}

type MetricsScope = {
  readonly title: string;
  readonly query: { readonly organizationId?: string; readonly resellerId?: string };
};

function scopeOf({ organization, reseller }: MetricsFlags, session: PlatformSession): MetricsScope {
  if (organization !== undefined && reseller !== undefined) {
    throw new CallsheetError('usage', '--organization and --reseller exclude each other', {
      hint: 'An organization belongs to one reseller: name the organization alone.',
    });
  }
  if (organization !== undefined) {
    const id = organizationId(organization, session.settings?.organizations ?? {});
    return { title: `organization ${organization}`, query: { organizationId: id } };
  }
  if (reseller !== undefined) {
    return { title: `reseller ${reseller}`, query: { resellerId: reseller } };
  }
  return { title: 'every organization that the key reaches', query: {} };
}
