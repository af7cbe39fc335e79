// The page in a real Chromium, over a live system of three processes. One browser, one system: the tests go from screen to screen.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { streamIdOf } from '../../src/index.js';
import { notTried } from '../support/brokers/not-tried.js';
import { eventually } from '../support/eventually.js';
import { chromiumPath, picture } from './support/browser.js';
import { type LiveSystem, startLiveSystem } from './support/live-system.js';
import { token } from './support/pages.js';
import { evil, PlaceOrder } from './support/shop-instance.js';

const howToTry = 'Install chromium, or set CHROMIUM_PATH.';

if (chromiumPath === undefined) {
  it('the page in a browser is tried', ({ skip }) => {
    if (process.env.CI === 'true') throw new Error(`There is no chromium. ${howToTry}`);
    skip(notTried('the page in a browser', howToTry));
  });
} else {
  describe('The page in a browser', () => {
    let system: LiveSystem;
    let page: Page;
    let url: string;
    let db: LiveSystem['db'];
    let shop: LiveSystem['shop'];
    let instances: LiveSystem['instances'];

    const see = (text: string | RegExp) => page.getByText(text).first().waitFor();
    const goTo = (screen: string) => page.goto(`${url}#/whizbang/${screen}`);
    const tab = (name: string) => page.getByRole('link', { name, exact: true }).click();
    const press = (name: string) => page.getByRole('button', { name, exact: true }).first().click();
    /** Answers the question, after a look at it. */
    const answer = async (question: string, name: string, reason?: string) => {
      await page.getByRole('dialog').getByText(question).waitFor();
      if (reason !== undefined) await page.getByLabel(/Reason/).fill(reason);
      await page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
    };
    const signIn = async (name: string) => {
      await page.getByLabel('Token').fill(token);
      await page.getByLabel(/Your name/).fill(name);
      await press('Sign in');
    };

    beforeAll(async () => {
      system = await startLiveSystem();
      ({ page, url, db, shop, instances } = system);
      await eventually(async () => expect(await shop.deadLetters.list()).toHaveLength(3));
    });

    afterAll(() => system?.stop());

    it('a stranger signs in with the token, and sees the system live', async () => {
      await page.goto(url);
      await page.getByLabel('Token').fill('guess');
      await press('Sign in');
      await see('It is not the token.');
      await signIn('ann');
      await page.locator('[data-test=living]', { hasText: '3' }).waitFor();
      await page.locator('[data-test=dead-inbox]', { hasText: '3' }).waitFor();
      expect(await page.locator('.chart canvas').count()).toBe(3);
      // Its first points: the live updates go on.
      await shop.send(Array.from({ length: 50 }, (_, n) => PlaceOrder({ orderId: `more-${n}`, ms: 20 })));
      await see('live');
      await picture(page, 'overview-light');
    });

    it('the live updates are paused and go on by a key', async () => {
      await page.locator('body').press('p');
      await page.getByRole('button', { name: 'paused' }).waitFor();
      await page.locator('body').press('p');
      await page.getByRole('button', { name: 'live', exact: true }).waitFor();
    });

    it('the instances are shown with their share, room and heartbeat', async () => {
      await page.locator('body').press('2');
      await page.getByRole('table', { name: 'Instances' }).waitFor();
      expect(await page.getByText('alive', { exact: true }).count()).toBeGreaterThanOrEqual(3);
      expect(await page.getByText('33.3 %').count()).toBe(3);
      await picture(page, 'instances-light');
    });

    it('script in ids, types, payloads and errors is shown as text and never runs', async () => {
      await tab('Dead letters');
      await see(evil);
      await page.getByRole('table', { name: 'Dead letters' }).locator('a.id').first().click();
      await page.getByRole('heading', { name: /PlaceOrder/ }).waitFor();
      await page.getByRole('button', { name: 'Show the payload' }).click();
      await page.locator('[data-test=payload]', { hasText: 'onerror' }).waitFor();
      expect(await page.locator('main img, main script').count()).toBe(0);
      expect(await page.title()).toBe('Whizbang');
      expect(await page.getByRole('link', { name: /^[0-9a-f]{32}$/ }).getAttribute('href')).toMatch(
        /^https:\/\/traces\.example\/[0-9a-f]{32}$/,
      );
      await page.locator('[data-test=explain] li').first().waitFor();
      await picture(page, 'message-light');
      await page.goto(`${url}#/${encodeURIComponent(evil)}/search?text=${encodeURIComponent(evil)}`);
      await see(/Search for/);
      expect(await page.locator('main img, main script').count()).toBe(0);
      expect(system.problems).toEqual([]);
    });

    it('a finished message shows what became of it, where there is a history', async () => {
      const id = await shop.send(PlaceOrder({ orderId: 'finished' }));
      await eventually(async () => expect((await shop.messages.get(id)).state).toBe('finished'));
      await goTo(`message/${id}`);
      await see('What became of it');
      await see(/stored in the inbox for PlaceOrder at .* handled at/);
      await picture(page, 'finished-light');
    });

    it('a dead letter is retried from where it is seen, after a question, and is gone', async () => {
      for (const child of instances) child.send('mend');
      await tab('Dead letters');
      await picture(page, 'dead-letters-light');
      await page
        .getByRole('checkbox', { name: /^Choose PlaceOrder/ })
        .first()
        .check();
      await page.getByRole('button', { name: 'Retry 1 chosen' }).click();
      await see('Retry 1 dead letter?');
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
      expect(await shop.deadLetters.list()).toHaveLength(3);
      await page.getByRole('button', { name: 'Retry 1 chosen' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Retry' }).click();
      await see('1 dead letter put back.');
      await eventually(async () => expect(await shop.deadLetters.list()).toHaveLength(2));
    });

    it('the dead letters of a type are discarded in bulk', async () => {
      await page.getByRole('button', { name: 'Discard type' }).first().click();
      await see('Discard 2 dead letters?');
      await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
      await see('There are no dead letters here. Nothing was given up.');
      expect(await shop.deadLetters.list()).toEqual([]);
    });

    it('streams, searches, timers and perspectives have their screens, also when they are empty', async () => {
      await tab('Streams');
      await see('no handler: ShipOrder');
      await page.getByLabel('Order').selectOption('deepest');
      await see('no handler: ShipOrder');
      await picture(page, 'streams-light');
      await page.locator('body').press('/');
      await page.keyboard.type('ShipOrder');
      await page.keyboard.press('Enter');
      await see(/among the newest 100.000 messages/);
      await page.getByRole('table', { name: 'Messages by type' }).waitFor();
      await page.getByLabel('Search').fill('nobody-ships');
      await page.keyboard.press('Enter');
      await page.getByRole('table', { name: 'Messages of the stream' }).waitFor();
      await goTo(`stream/${streamIdOf('nothing')}`);
      await see('Nothing of this stream waits.');
      await tab('Schedules');
      await see('No instance has a schedule.');
      await page.getByRole('table', { name: 'Timers' }).getByText('PlaceOrder').waitFor();
      await tab('Perspectives');
      await see('This service has no perspectives.');
    });

    it('another service is chosen, and has its own screens', async () => {
      await tab('Overview');
      await page.getByLabel('Service').selectOption('billing');
      await see('No instance is running. Start a service of this schema');
      await page.getByLabel('Service').selectOption('whizbang');
      await page.locator('[data-test=living]', { hasText: '3' }).waitFor();
    });

    it('the heat map changes when an instance dies', async () => {
      // More than three instances of four can run at once: the rest waits, and is on the map.
      await shop.send(Array.from({ length: 60 }, (_, n) => PlaceOrder({ orderId: `slow-${n}`, ms: 60_000 })));
      await page.locator('body').press('3');
      const owners = page
        .getByRole('region', { name: 'Partitions of the inbox' })
        .locator('[data-test=owner]');
      await eventually(async () => expect(await owners.locator('.filled').count()).toBeGreaterThan(20));
      expect(await owners.getByText('33 %').count()).toBe(3);
      await picture(page, 'partitions-light');
      const killed = instances[0] as ChildProcess;
      killed.kill('SIGKILL');
      await once(killed, 'exit');
      const silent = `update wh_service_instances set last_heartbeat_at = clock_timestamp() - interval '1 hour' where process_id = $1`;
      await db.pool.query(silent, [killed.pid]);
      await owners.getByText('50 %').nth(1).waitFor();
      await picture(page, 'partitions-after-a-death-light');
    });

    it('a stream that somebody holds says why, and is released; so are all of an instance', async () => {
      const [held] = (
        await db.pool.query(`select stream_id, instance_id from wh_leases where lane = 'inbox' limit 1`)
      ).rows;
      await goTo(`stream/${held.stream_id}`);
      await page.locator('[data-test=explain]').getByText('held', { exact: true }).first().waitFor();
      await press('Release');
      await answer('A message that runs may run a second time', 'Cancel');
      await press('Release');
      await answer('A message that runs may run a second time', 'Release');
      await see('It is released: anybody may take it.');
      await tab('Instances');
      const alive = page.getByRole('row').filter({ hasText: 'alive' }).filter({ hasText: 'PlaceOrder' });
      await alive.getByRole('button', { name: 'Release' }).first().click();
      await answer('Release all streams of', 'Release');
      await see('They are released: anybody may take them.');
      const { rows } = await db.pool.query(
        'select who, operation from wh_operations order by id desc limit 2',
      );
      expect(rows).toEqual([
        { who: 'ann', operation: 'release-instance' },
        { who: 'ann', operation: 'release-stream' },
      ]);
    });

    it('a message is given up with a reason, and another one is tried now', async () => {
      const idOf = async (text: string) => (await db.pool.query(text)).rows[0].message_id as string;
      const shipping = await idOf(`select message_id from wh_inbox where event_type = 'ShipOrder'`);
      await goTo(`message/${shipping}`);
      await press('Give up');
      await answer('Give up this message?', 'Give up', 'nobody ships any more');
      await see('It is a dead letter, and its stream goes on.');
      await page.locator('h2 .badge.dead').waitFor();
      expect((await shop.deadLetters.get(shipping))?.error).toContain('nobody ships any more');
      const later = await idOf('select message_id from wh_timers');
      await goTo(`message/${later}`);
      await press('Try now');
      await answer('Try it now?', 'Try now');
      await see('It is due now.');
      await eventually(async () => expect((await shop.messages.get(later)).state).not.toBe('scheduled'));
    });

    it('a type, a stream and the intake are paused and resumed, and what is paused is seen', async () => {
      await page.locator('body').press('8');
      await page.getByLabel('Type to pause').fill('PlaceOrder');
      await press('Pause the type');
      await picture(page, 'question-light');
      await answer('Pause the type PlaceOrder?', 'Pause', 'the gateway is down');
      await see(/by ann, .*: the gateway is down/);
      await press('Pause the intake');
      await answer('Pause the intake of the service?', 'Pause');
      const paused = page.getByRole('list', { name: 'What is paused' }).getByRole('listitem');
      await paused.nth(1).waitFor();
      const messageId = await shop.send(PlaceOrder({ orderId: 'paused' }));
      await goTo(`stream/${streamIdOf('paused')}`);
      await press('Pause the stream');
      await answer('Pause stream', 'Pause');
      await page.getByRole('button', { name: 'Resume the stream' }).waitFor();
      await see('whizbang resume intake');
      await picture(page, 'stream-paused-light');
      const rows = page.getByRole('table', { name: 'Messages of the stream' }).locator('tbody tr');
      await eventually(async () => {
        const reasons = await page.locator('[data-test=explain] ol li').count();
        expect([reasons, await rows.count()]).toEqual([1, 1]);
      });
      await tab('Overview');
      await paused.nth(2).waitFor();
      await picture(page, 'overview-paused-light');
      expect((await shop.messages.get(messageId)).state).toBe('paused');
      for (let left = 3; left > 0; left--) {
        await paused.first().getByRole('button', { name: 'Resume' }).click();
        await answer('What has waited is handed out again.', 'Resume');
        await eventually(async () => expect(await paused.count()).toBe(left - 1));
      }
      expect(await shop.operations.pauses()).toEqual([]);
      await tab('Operations');
      await page.getByRole('table', { name: 'Operations' }).getByText('resume').nth(2).waitFor();
      await picture(page, 'operations-light');
      expect(system.problems).toEqual([]);
    });

    it('the page is dark when the system is, and fits a narrow screen', async () => {
      await page.emulateMedia({ colorScheme: 'dark' });
      await picture(page, 'partitions-dark');
      await tab('Overview');
      await page.locator('.chart canvas').first().waitFor();
      await picture(page, 'overview-dark');
      expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(20, 21, 26)');
      await page.setViewportSize({ width: 375, height: 720 });
      for (const screen of ['overview', 'instances', 'partitions', 'streams', 'operations']) {
        await goTo(screen);
        await page.locator('main table, main section').first().waitFor();
        await picture(page, `${screen}-narrow`);
        expect([screen, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([screen, 375]);
      }
    });

    it('an error of the database is shown, and a reader has no button that acts', async () => {
      await page.route('**/api/streams*', (route) =>
        route.fulfill({ status: 503, json: { error: 'It is away.' } }),
      );
      await goTo('streams');
      await see('It is away.');
      await page.unroute('**/api/streams*');
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('table', { name: 'Streams' }).waitFor();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.goto('about:blank');
      await page.goto(`${url}#token=${token}`);
      await page.locator('[data-test=living]').waitFor();
      expect(page.url()).not.toContain(token);
      await press('Sign out');
      await signIn('bob');
      await goTo('operations');
      await page.getByRole('table', { name: 'Operations' }).waitFor();
      expect(await page.getByRole('button', { name: /Pause|Resume|Release/ }).count()).toBe(0);
    });
  });
}
