import { expect } from 'vitest';
import type { JsonObject } from '../../src/core/value.ts';
import { ALL, metrics, NOW, REPORT_IDS, REPORTS, scoped } from './reports-seed.ts';
import { type Reply, type Row, section, type World } from './world.ts';

const { harbor, lake, north, tide, summit, nobody, desk, night, recall, gone } = REPORT_IDS;
const options = { now: () => new Date(NOW) };
const rows = (...all: readonly Row[]): readonly Row[] => all.map((row) => ({ options, ...row }));
const dataOf = ({ body }: Reply): JsonObject => Object(body.data);

section(
  'Metrics',
  rows(
    {
      rule: 'the span as a whole, minutes with two decimals and percentages with one',
      does: (world) => metrics(world),
      status: 200,
      body: {
        data: {
          metrics: {
            totalCalls: 8,
            totalMinutes: 13.52,
            resolutionRate: 37.5,
            avgDuration: 101.4,
            activeAgents: 2,
            responseTime: expect.any(Number),
            escalationRate: 37.5,
            sentimentPercent: expect.any(Number),
          },
          resolutionBreakdown: { resolved: 3, transferred: 3, abandoned: 1, other: 1 },
        },
      },
    },
    {
      rule: 'dailyVolume has every day of the span in order, days without calls too',
      does: (world) => metrics(world, { startDate: '2026-03-01' }),
      status: 200,
      body: {
        data: {
          dailyVolume: [
            { date: '2026-03-01', totalCalls: 0, resolvedCalls: 0 },
            { date: '2026-03-02', totalCalls: 3, resolvedCalls: 2 },
            { date: '2026-03-03', totalCalls: 2, resolvedCalls: 0 },
            { date: '2026-03-04', totalCalls: 2, resolvedCalls: 1 },
            { date: '2026-03-05', totalCalls: 1, resolvedCalls: 0 },
          ],
        },
      },
    },
    {
      rule: 'a span of more than a year has only the days with calls',
      does: (world) => metrics(world, { startDate: '0001-01-01', endDate: '9999-12-31' }),
      status: 200,
      also: (_, reply) => expect(dataOf(reply).dailyVolume).toHaveLength(4),
    },
    {
      rule: 'hourlyDistribution has exactly 24 hours (Limits)',
      does: (world) => metrics(world),
      status: 200,
      also: (_, reply) => {
        const hours = dataOf(reply).hourlyDistribution;
        expect(hours).toHaveLength(24);
        expect(Object(hours)[9]).toEqual({ hour: '09:00', calls: 2, minutes: 2.5 });
        expect(Object(hours)[23]).toEqual({ hour: '23:00', calls: 1, minutes: 5 });
        expect(Object(hours)[1]).toEqual({ hour: '01:00', calls: 0, minutes: 0 });
      },
    },
    {
      rule: 'agentPerformance has the agents with calls, the busiest first, and deleted ones as deleted',
      does: (world) => metrics(world),
      status: 200,
      also: (_, reply) =>
        expect(dataOf(reply).agentPerformance).toEqual([
          {
            agentId: desk,
            agentName: 'Front desk',
            totalCalls: 4,
            resolved: 1,
            transferred: 1,
            abandoned: 1,
            other: 1,
            resolvedPercent: 25,
            transferredPercent: 25,
            abandonedPercent: 25,
            otherPercent: 25,
            avgDuration: 64,
            sentimentPercent: 50,
            status: 'active',
          },
          expect.objectContaining({ agentId: night, totalCalls: 2, status: 'inactive' }),
          expect.objectContaining({ agentId: recall, sentimentPercent: 0, status: 'active' }),
          expect.objectContaining({ agentId: gone, agentName: 'Gone', status: 'deleted' }),
        ]),
    },
    {
      rule: 'an agent that is deleted keeps its calls and the name that it had last',
      does: async (world) => {
        const path = { agentId: desk };
        await world.call('updateAgent', { path, body: { name: 'Reception' } });
        await world.call('deleteAgent', { path });
        return metrics(world);
      },
      status: 200,
      body: { data: { metrics: { totalCalls: 8, activeAgents: 1 } } },
      also: (_, reply) =>
        expect(Object(dataOf(reply).agentPerformance)[0]).toMatchObject({
          agentName: 'Reception',
          status: 'deleted',
        }),
    },
    {
      rule: 'a mood needs a talk: an agent whose callers all hung up has none',
      does: (world) => metrics(world, { startDate: '2026-03-03', endDate: '2026-03-03T12:00:00Z' }),
      status: 200,
      body: {
        data: {
          metrics: { totalCalls: 1, sentimentPercent: null, responseTime: null, escalationRate: 0 },
          agentPerformance: [{ agentId: desk, sentimentPercent: null, abandonedPercent: 100 }],
          aiInsights: { intentAccuracy: null, responseLatency: null, trainingSessions: 1 },
        },
      },
    },
    {
      rule: 'responseLatency is responseTime, and trainingSessions are the calls',
      does: (world) => metrics(world),
      status: 200,
      also: (_, reply) => {
        const { metrics: whole, aiInsights: insights } = dataOf(reply);
        expect(Object(insights).responseLatency).toBe(Object(whole).responseTime);
        expect(insights).toMatchObject({ trainingSessions: 8 });
      },
    },
    {
      rule: 'escalationReasons: the most frequent first, in percent of all of them',
      does: (world) => metrics(world),
      status: 200,
      body: {
        data: {
          escalationReasons: [
            { reason: 'Complaint', count: 2, percentOfTotal: 66.7 },
            { reason: 'Bill', count: 1, percentOfTotal: 33.3 },
          ],
        },
      },
    },
    {
      rule: 'where nothing was measured there are nulls and no reasons',
      does: (world) => metrics(world, { organizationId: lake }),
      status: 200,
      body: {
        data: {
          metrics: {
            totalCalls: 0,
            totalMinutes: 0,
            resolutionRate: 0,
            avgDuration: 0,
            activeAgents: 0,
            responseTime: null,
            sentimentPercent: null,
            escalationRate: null,
          },
          agentPerformance: [],
          escalationReasons: [],
          aiInsights: {
            intentAccuracy: null,
            contextRetention: null,
            speechRecognition: null,
            entityExtraction: null,
            responseLatency: null,
            trainingSessions: 0,
          },
        },
      },
    },
    ...[
      { query: { organizationId: north }, calls: 1 },
      { query: { resellerId: tide }, calls: 7 },
      { query: { resellerId: summit }, calls: 0 },
      { query: { resellerId: tide, organizationId: north }, calls: 0 },
      { query: { startDate: '2026-03-02T09:15:00Z', endDate: '2026-03-02T09:15:00Z' }, calls: 1 },
      { query: { startDate: '2026-03-02T10:15:00.001+01:00', endDate: '2026-03-02' }, calls: 2 },
      { query: { startDate: '2026-03-03', endDate: '2026-03-03' }, calls: 2 },
      { query: { startDate: '2026-03-06' }, calls: 0 },
      { query: { endDate: '2026-03-04T23:59:60Z' }, calls: 7 },
    ].map(({ query, calls }) => ({
      rule: `${JSON.stringify(query)} is about ${calls} calls`,
      does: (world: World) => metrics(world, query),
      status: 200,
      body: { data: { metrics: { totalCalls: calls } } },
    })),
    ...[
      { query: { startDate: undefined }, says: /startDate: required/ },
      { query: { endDate: undefined }, says: /endDate: required/ },
      { query: { startDate: 'yesterday' }, says: /startDate/ },
      { query: { endDate: '2026-02-30' }, says: /endDate/ },
      { query: { organizationId: 'harbor' }, says: /organizationId/ },
      { query: { resellerId: 'tide' }, says: /resellerId/ },
    ].map(({ query, says }) => ({
      rule: `${JSON.stringify(query)} is a bad request`,
      does: ({ call }: World) => {
        const given = JSON.parse(JSON.stringify({ ...ALL, ...query }));
        return call('getMetrics', { query: given });
      },
      status: 400,
      body: { error: 'invalid_request', error_description: expect.stringMatching(says) },
    })),
    ...[{ organizationId: nobody }, { resellerId: nobody }].map((query) => ({
      rule: `${Object.keys(query)[0]} outside the account is not found (Authentication 4)`,
      does: (world: World) => metrics(world, query),
      status: 404,
      body: { error: 'not_found' },
    })),
    ...[
      { key: 'north', query: {}, calls: 1 },
      { key: 'north', query: { organizationId: north }, calls: 1 },
      { key: 'tide', query: {}, calls: 7 },
      { key: 'tide', query: { resellerId: tide }, calls: 7 },
      { key: 'tide', query: { organizationId: harbor }, calls: 7 },
    ].map(({ key, query, calls }) => ({
      rule: `${JSON.stringify(query)} with a key limited to ${key} is narrowed to ${calls} calls (Authentication 5)`,
      does: async (world: World) => metrics(await scoped(world, key), query),
      status: 200,
      body: { data: { metrics: { totalCalls: calls } } },
    })),
    ...[
      { key: 'north', query: { organizationId: harbor } },
      { key: 'north', query: { resellerId: tide } },
      { key: 'tide', query: { organizationId: north } },
      { key: 'tide', query: { resellerId: summit } },
    ].map(({ key, query }) => ({
      rule: `${JSON.stringify(query)} lies outside a key limited to ${key} (Authentication 5)`,
      does: async (world: World) => metrics(await scoped(world, key), query),
      status: 403,
      body: { error: 'forbidden' },
    })),
    {
      rule: 'a token that does not hold is invalid_token',
      does: ({ call }) => call('getMetrics', { query: ALL, authorization: 'Bearer nonsense' }),
      status: 401,
      body: { error: 'invalid_token' },
    },
  ),
  REPORTS,
);
