"""Images in the memory of a GPU, as other libraries see them; where there is one."""

import gc

import numpy as np
import pytest
from conftest import VALUES

import torrance as tr


@pytest.fixture
def image() -> tr.Image:
    if not tr.gpus():
        pytest.skip("there is no GPU")
    return tr.scene(VALUES).render(device="cuda")


def test_images_on_a_host_have_no_other_array(scene):
    assert scene.render(1, device="cpu").on_device is None


def test_torch_sees_it(image):
    torch = pytest.importorskip("torch")
    for view in [torch.as_tensor(image.on_device, device="cuda"), torch.from_dlpack(image.on_device)]:
        assert view.data_ptr() == image.on_device.__cuda_array_interface__["data"][0]
        assert np.array_equal(view.cpu().numpy(), image.radiance)


def test_cupy_sees_it(image):
    cupy = pytest.importorskip("cupy")
    for view in [cupy.asarray(image.on_device), cupy.from_dlpack(image.on_device)]:
        assert view.data.ptr == image.on_device.__cuda_array_interface__["data"][0]
        assert np.array_equal(view.get(), image.radiance)


def test_jax_sees_it(image):
    dlpack = pytest.importorskip("jax.dlpack")
    view = dlpack.from_dlpack(image.on_device)
    assert view.unsafe_buffer_pointer() == image.on_device.__cuda_array_interface__["data"][0]
    assert np.array_equal(np.asarray(view), image.radiance)


def test_views_keep_it_from_the_next_render():
    torch = pytest.importorskip("torch")
    if not tr.gpus():
        pytest.skip("there is no GPU")
    scene = tr.scene(VALUES)
    images, views = [], []
    for seed in range(6):
        image = scene.render(device="cuda", seed=seed)
        images.append(image.radiance.copy())
        views.append(torch.from_dlpack(image.on_device))
        del image
        gc.collect()
    assert all(np.array_equal(view.cpu().numpy(), image) for view, image in zip(views, images))
    assert len({view.data_ptr() for view in views}) == 6
    del views
    addresses = {scene.render(device="cuda").on_device.__cuda_array_interface__["data"][0] for _ in range(10)}
    assert len(addresses) <= 2, "memory that nobody has any more is used again"
