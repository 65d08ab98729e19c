#!/usr/bin/env python3
"""A worker that is killed, stalled or stopped while a query runs.

    lost_worker_test.py PROGRAM
"""

import signal

from cluster_fixture import FAILURE_LIMIT, LIMIT, ClusterTest, is_idle, main, until


#: The query fails when its worker is lost.
NOT_AGAIN = ("--set", "skein_retry=none")


class KilledWorkerTest(ClusterTest):
    def lose(self, sql, after):
        workers = self.workers(3)
        query = self.begun(workers, sql, *NOT_AGAIN, after=after)
        victim = workers.pop(1)
        victim.kill()
        code, out, err = self.finish(query, FAILURE_LIMIT)
        self.assertEqual((code, out), (1, ""), err)
        self.assert_one_line(err, "lost worker " + victim.address)
        self.assert_free(workers)

    def test_while_it_gets_its_plan(self):
        workers = self.workers(3)
        query = self.command(workers, self.scanning(), *NOT_AGAIN)
        victim = workers.pop(1)
        victim.kill()
        code, out, err = self.finish(query, FAILURE_LIMIT)
        self.assertIn(code, (1, 3), err)
        self.assertEqual(out, "")
        self.assert_one_line(err, victim.address)
        self.assert_free(workers)

    def test_while_it_scans(self):
        for after in (0.2, 1.0):
            with self.subTest(after=after):
                self.lose(self.scanning(), after)

    def test_while_it_shuffles(self):
        for after in (0.2, 2.0):
            with self.subTest(after=after):
                self.lose(self.shuffling(), after)

    def test_when_it_has_finished_but_is_not_read(self):
        workers = self.workers(3)
        query = self.begun(workers, self.everything(), after=0.03)
        for worker in workers:
            until(lambda worker=worker: is_idle(worker), LIMIT, "the worker has finished")
        victim = workers.pop(1)
        victim.kill()
        code, out, err = self.finish(query, FAILURE_LIMIT)
        self.assertEqual(code, 1, err)
        self.assertLess(out.count("\n"), 2_000_000)
        self.assert_one_line(err, "lost worker " + victim.address)
        self.assert_free(workers)

    def test_leaves_nothing_on_the_others_however_often(self):
        survivors = self.workers(2)
        for _ in range(3):
            self.lose_one_beside(survivors)
        threads = [worker.threads() for worker in survivors]
        descriptors = [worker.descriptors() for worker in survivors]
        for _ in range(5):
            self.lose_one_beside(survivors)
        self.assert_free(survivors)
        for worker, before in zip(survivors, threads):
            self.assertLess(worker.threads(), before + 5)
        for worker, before in zip(survivors, descriptors):
            self.assertLess(worker.descriptors(), before + 5)

    def lose_one_beside(self, survivors):
        (victim,) = self.workers(1)
        query = self.begun([*survivors, victim], self.shuffling(), *NOT_AGAIN, after=0.1)
        victim.kill()
        self.assertEqual(self.finish(query, FAILURE_LIMIT)[0], 1)


class StalledWorkerTest(ClusterTest):
    def test_ends_the_query(self):
        for sql in (self.scanning(), self.shuffling()):
            workers = self.workers(3)
            query = self.begun(workers, sql, *NOT_AGAIN)
            victim = workers.pop(1)
            victim.process.send_signal(signal.SIGSTOP)
            code, out, err = self.finish(query, FAILURE_LIMIT + 1)
            self.assertEqual((code, out), (1, ""), err)
            self.assert_one_line(err, "lost worker " + victim.address)
            self.assert_free(workers)
            victim.process.send_signal(signal.SIGCONT)
            self.assert_free([*workers, victim])


class StoppedWorkerTest(ClusterTest):
    def test_ends_at_once_when_idle(self):
        (worker,) = self.workers(1)
        self.assert_works([worker])
        worker.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.finish(worker.process, 2), (0, "", ""))

    def test_lets_a_running_query_end(self):
        workers = self.workers(2)
        query = self.begun(
            workers,
            f"SELECT count(*) AS n FROM (SELECT DISTINCT id, h, t FROM '{self.keys}')",
            "--set",
            "skein_max_tasks=2",
            after=0.05,
        )
        workers[1].process.send_signal(signal.SIGTERM)
        self.assertEqual(self.finish(query), (0, "n\n400000\n", ""))
        self.assertEqual(self.finish(workers[1].process), (0, "", ""))

    def test_ends_a_long_query_after_its_grace(self):
        workers = self.workers(2)
        query = self.begun(workers, self.shuffling(), *NOT_AGAIN)
        workers[1].process.send_signal(signal.SIGTERM)
        code, out, err = self.finish(query, 10 + FAILURE_LIMIT)
        self.assertEqual((code, out), (1, ""), err)
        self.assert_one_line(err, f"lost worker {workers[1].address}: it has been stopped")
        self.assertEqual(self.finish(workers[1].process, FAILURE_LIMIT), (0, "", ""))
        self.assert_free(workers[:1])


    def test_does_not_wait_for_a_task_that_never_looks_up(self):
        workers = self.workers(2)
        # One call for every 2048 rows, each of minutes.
        endless = "levenshtein(repeat('a' || k, 9000), repeat('b' || k, 9000))"
        query = self.begun(workers, f"SELECT max({endless}) FROM '{self.keys}'", *NOT_AGAIN)
        workers[1].process.send_signal(signal.SIGTERM)
        code, out, err = self.finish(query, 10 + FAILURE_LIMIT)
        self.assertEqual((code, out), (1, ""), err)
        self.assert_one_line(err, f"lost worker {workers[1].address}: it has been stopped")
        code, out, err = self.finish(workers[1].process, 5 + FAILURE_LIMIT)
        self.assertEqual((code, out), (1, ""))
        self.assert_one_line(err, "tasks have not ended after their cancellation")


if __name__ == "__main__":
    main()
