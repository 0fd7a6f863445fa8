"""How much memory there is, as the files of a made-up system say it: the machine, a container, groups in groups."""

from types import MappingProxyType

import torch

from playground.training.memory import available, container_free, container_limit

GB = 10**9
CPU = torch.device("cpu")


def system(folder, meminfo="", own="0::/\n", groups=MappingProxyType({})):
    """A system with these files; of each of the `groups`, by its path, a limit, the bytes used and the idle cache."""
    files = {"proc/meminfo": meminfo, "proc/self/cgroup": own}
    for path, (limit, used, cache) in groups.items():
        here = f"sys/fs/cgroup/{path}".rstrip("/")
        files |= {f"{here}/memory.max": f"{limit}\n", f"{here}/memory.current": f"{used}\n"}
        files |= {f"{here}/memory.stat": f"anon 5\nactive_file 7\ninactive_file {cache}\n"}
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


MACHINE = "MemTotal: 64000000 kB\nMemFree: 1 kB\nMemAvailable:   4000000 kB\n"


def test_a_machine_without_a_container_says_what_is_available(tmp_path):
    assert available(CPU, system(tmp_path, MACHINE)) == 4_000_000 << 10
    assert (container_limit(tmp_path), container_free(tmp_path)) == (None, None)


def test_where_nobody_says_it_is_not_known(tmp_path):
    assert available(CPU, tmp_path) is None


def test_a_container_has_what_is_left_of_its_limit_and_the_idle_file_cache(tmp_path):
    there = system(tmp_path, MACHINE, groups={"": (2 * GB, 1_500_000_000, 200_000_000)})
    assert container_limit(there) == 2 * GB
    assert container_free(there) == available(CPU, there) == 700_000_000


def test_the_machine_counts_where_it_has_less_than_the_container(tmp_path):
    there = system(tmp_path, "MemAvailable: 1000 kB\n", groups={"": (2 * GB, GB, 0)})
    assert available(CPU, there) == 1000 << 10


def test_a_group_without_a_limit_is_no_limit(tmp_path):
    there = system(tmp_path, MACHINE, groups={"": ("max", GB, 0)})
    assert container_limit(there) is None and available(CPU, there) == 4_000_000 << 10


def test_the_tightest_of_the_groups_around_a_process_counts(tmp_path):
    groups = {"": ("max", 9 * GB, 0), "users": (3 * GB, 2_900_000_000, 0), "users/one": (2 * GB, GB, 0)}
    there = system(tmp_path, MACHINE, "0::/users/one\n", groups)
    assert (container_limit(there), container_free(there)) == (2 * GB, 100_000_000)


def test_a_container_that_sees_its_own_group_as_the_outermost_is_found(tmp_path):
    there = system(tmp_path, MACHINE, "0::/docker/abc\n", {"": (GB, GB // 2, 0)})
    assert container_free(there) == GB // 2


def test_a_container_that_is_over_its_limit_has_nothing_free(tmp_path):
    there = system(tmp_path, MACHINE, groups={"": (GB, 2 * GB, 0)})
    assert available(CPU, there) == 0


def test_a_file_that_cannot_be_read_says_nothing(tmp_path):
    (tmp_path / "proc/self/cgroup").mkdir(parents=True)
    assert container_limit(tmp_path) is None
